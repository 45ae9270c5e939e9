import type { Openers } from './connections/openers.ts';
import type { QuickStatements } from './connections/quick-statements.ts';
import type { ReadLane } from './connections/read-lane.ts';
import type { SessionSettings } from './connections/session-settings.ts';
import type { ReplicaSide } from './read-replicas/replica-side.ts';
import { startingPlaces } from './read-replicas/starting-places.ts';
import { type Cursor, createOpenCursor, refuseCursor } from './reads/cursor.ts';
import { createLargeAnswers } from './reads/large-answers.ts';
import type { LongReadWidth } from './reads/long-read-width.ts';
import { createShapedReads } from './reads/shaped-reads.ts';
import type { Query, Statement } from './statement.ts';
import type { StatementTracing } from './traced.ts';

/** Reads of clients (docs/cost-budget.md). */
export interface ClientReads {
  /** Reads one record by its id. */
  get<R>(statement: Statement, statementMs: number): Promise<R[]>;
  /** Reads a small page that is not a shaped read. */
  page<R>(statement: Statement, statementMs: number): Promise<R[]>;
  /** Runs a shaped read. */
  shaped<R>(statement: Statement, statementMs: number): Promise<R[]>;
  /** Reads for live subscriptions. No request of a client waits for it. */
  live<R>(statement: Statement, statementMs: number): Promise<R[]>;
  /** Runs a shaped read of several statements that see one snapshot. */
  shapedTransaction<T>(work: (query: Query) => Promise<T>, statementMs: number): Promise<T>;
  /** Opens a cursor over the rows of a statement. Each row is one JSON text. */
  cursor(statement: Statement, statementMs: number): Promise<Cursor>;
}

interface ClientReadsDeps {
  readonly gets: ReadLane;
  readonly longReadWidth: LongReadWidth;
  readonly settings: SessionSettings;
  readonly replicaSide: ReplicaSide | undefined;
  readonly quickStatements: QuickStatements;
  readonly statementTracing: StatementTracing;
}

/** Opens the connections for reads of clients. All except gets of records use the settings. */
export function openClientReads(openers: Openers, deps: ClientReadsDeps) {
  const { gets, longReadWidth, settings, replicaSide, quickStatements } = deps;
  const { traced, tracing } = deps.statementTracing;
  const { meterOf } = openers;
  const lists = openers.lane('lists', settings);
  const quick = openers.lane('quickReads', settings);
  const short = openers.pool('shortReads', { onRan: quickStatements.noteRun }, settings);
  const long = openers.pool('longReads', { connectionsNow: longReadWidth.now }, settings);
  const live = openers.pool('liveReads', { onWork: longReadWidth.noteShortWork }, settings);
  const exports = openers.pool('exports', { refuse: refuseCursor }, settings);
  const openCursor = createOpenCursor(
    (work, statementMs) => exports.transaction((query) => work(tracing(query)), statementMs),
    (caller) => exports.isWanted(caller),
  );
  const largeAnswers = createLargeAnswers({ meter: meterOf('largeAnswers') });
  const start = startingPlaces({ gets, lists, quick, short }, replicaSide);
  const shaped = createShapedReads({
    quick: start.quick,
    quickStatements,
    short: start.short,
    long,
    longWidth: longReadWidth,
    meter: meterOf('shaped'),
    largeAnswers,
  });
  const readOn = <R>(lane: Pick<ReadLane, 'read'>, statement: Statement, statementMs: number): Promise<R[]> => {
    longReadWidth.noteShortWork();
    return traced(statement, () => shaped.readOn<R>(lane, statement, statementMs));
  };
  const reads: ClientReads = {
    get: (statement, statementMs) => readOn(start.gets, statement, statementMs),
    page: (statement, statementMs) => readOn(start.lists, statement, statementMs),
    shaped: (statement, statementMs) => traced(statement, () => shaped.read(statement, statementMs)),
    live: (statement, statementMs) => traced(statement, () => live.query(statement, statementMs)),
    shapedTransaction: (work, statementMs) => shaped.transaction((query) => work(tracing(query)), statementMs),
    cursor: openCursor,
  };
  return {
    reads,
    async close(): Promise<void> {
      await Promise.all([lists, quick, short, long, live, exports].map((one) => one.close()));
    },
  };
}
