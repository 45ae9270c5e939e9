import type { Openers, ReadLanes } from './connections/openers.ts';
import type { QuickStatements } from './connections/quick-statements.ts';
import type { SessionSettings } from './connections/session-settings.ts';
import type { ReplicaSide } from './read-replicas/replica-side.ts';
import { startingPlaces } from './read-replicas/starting-places.ts';
import { type Cursor, createOpenCursor, refuseCursor } from './reads/cursor.ts';
import { createLargeAnswers } from './reads/large-answers.ts';
import type { LongReadWidth } from './reads/long-read-width.ts';
import { createShapedReads, type SnapshotWork } from './reads/shaped-reads.ts';
import type { Query, Statement } from './statement.ts';
import type { StatementTracing } from './traced.ts';

/** Clients' reads (docs/cost-budget.md). */
export interface ClientReads {
  /** Reads one record by its id. */
  get<R>(statement: Statement, statementMs: number): Promise<R[]>;
  /** Reads a small page that is not a shaped read. */
  page<R>(statement: Statement, statementMs: number): Promise<R[]>;
  /** Runs a shaped read. */
  shaped<R>(statement: Statement, statementMs: number): Promise<R[]>;
  /** Returns shaped reads that together have the time of one. */
  together(statementMs: number): Query;
  /** Reads for live subscriptions. No client request waits for it. */
  live<R>(statement: Statement, statementMs: number): Promise<R[]>;
  /** Runs a shaped read with several statements that see one snapshot. */
  shapedTransaction<T>(work: SnapshotWork<T>, statementMs: number): Promise<T>;
  /** Opens a cursor over a statement's rows. Each row is one JSON text. */
  cursor(statement: Statement, statementMs: number): Promise<Cursor>;
}

interface ClientReadsDeps {
  readonly lanes: ReadLanes;
  readonly longReadWidth: LongReadWidth;
  readonly settings: SessionSettings;
  readonly replicaSide: ReplicaSide | undefined;
  readonly quickStatements: QuickStatements;
  readonly statementTracing: StatementTracing;
}

/** Opens the connections for client reads, with the settings. */
export function openClientReads(openers: Openers, deps: ClientReadsDeps) {
  const { lanes, longReadWidth, settings, replicaSide, quickStatements } = deps;
  const { traced, tracing } = deps.statementTracing;
  const { meterOf } = openers;
  const shapedReads = openers.pool('shapedReads', settings);
  const liveAndExports = openers.pool('liveAndExports', settings);
  const short = shapedReads.placesOf('shortReads', { onRan: quickStatements.noteRun });
  const long = shapedReads.placesOf('longReads', { placesNow: longReadWidth.now });
  const live = liveAndExports.placesOf('live', { onWork: longReadWidth.noteShortWork });
  const exports = liveAndExports.placesOf('exports', { refuse: refuseCursor });
  const openCursor = createOpenCursor(
    (work, statementMs) => exports.transaction((query) => work(tracing(query)), statementMs),
    (caller) => exports.isWanted(caller),
  );
  const largeAnswers = createLargeAnswers({ meter: meterOf('largeAnswers') });
  const start = startingPlaces({ ...lanes, short }, replicaSide);
  const shaped = createShapedReads({
    quick: start.quick,
    quickStatements,
    short: start.short,
    long,
    longWidth: longReadWidth,
    meter: meterOf('shaped'),
    largeAnswers,
  });
  const readOn = <R>(lane: ReadLanes['gets'], statement: Statement, statementMs: number): Promise<R[]> => {
    longReadWidth.noteShortWork();
    return traced(statement, () => shaped.readOn<R>(lane, statement, statementMs));
  };
  const reads: ClientReads = {
    get: (statement, statementMs) => readOn(start.gets, statement, statementMs),
    page: (statement, statementMs) => readOn(start.pages, statement, statementMs),
    shaped: (statement, statementMs) => traced(statement, () => shaped.read(statement, statementMs)),
    together: (statementMs) => tracing(shaped.together(statementMs)),
    live: (statement, statementMs) => traced(statement, () => live.query(statement, statementMs)),
    shapedTransaction: (work, statementMs) =>
      shaped.transaction((query, together) => work(tracing(query), tracing(together)), statementMs),
    cursor: openCursor,
  };
  return {
    reads,
    async close(): Promise<void> {
      await Promise.all([lanes, shapedReads, liveAndExports].map((one) => one.close()));
    },
  };
}
