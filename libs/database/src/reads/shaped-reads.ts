import { currentClient } from '@recordbus/request/request-scope';
import type { ClassMeter } from '../connections/class-meter.ts';
import type { QuickStatements } from '../connections/quick-statements.ts';
import type { ReadLane } from '../connections/read-lane.ts';
import type { WorkPlaces } from '../connections/work-places.ts';
import { isDatabaseError, sqlState } from '../errors.ts';
import type { Query, Statement } from '../statement.ts';
import type { LargeAnswers } from './large-answers.ts';
import type { LongReadWidth } from './long-read-width.ts';
import { createQuickReads } from './quick-reads.ts';
import { createReadPlaces } from './read-places.ts';
import { createReadSlots } from './read-slots.ts';
import { createShortThenLong } from './short-then-long.ts';

/** Shaped reads. The server ends each statement after the given time, in milliseconds. */
export interface ShapedReads {
  read<R>(statement: Statement, statementMs: number): Promise<R[]>;
  /** Returns reads that together have the time of one. How long they wait for a connection does not count. */
  together(statementMs: number): Query;
  /** Runs a read on the lane, where it should be quick. If it is slow, it starts again as a shaped read. */
  readOn<R>(lane: Pick<ReadLane, 'read'>, statement: Statement, statementMs: number): Promise<R[]>;
  /** Runs several statements that see one snapshot. */
  transaction<T>(work: SnapshotWork<T>, statementMs: number): Promise<T>;
}

/** Reads with several statements. Those of `together` have the time of one; each of `query` has its own. */
export type SnapshotWork<T> = (query: Query, together: Query) => Promise<T>;

interface ShapedReadsDeps {
  readonly quick: Pick<ReadLane, 'read'>;
  readonly quickStatements: QuickStatements;
  readonly short: Pick<WorkPlaces, 'query'>;
  readonly long: Pick<WorkPlaces, 'transaction'>;
  readonly longWidth: Pick<LongReadWidth, 'now' | 'noteShortWork'>;
  readonly meter: ClassMeter;
  readonly largeAnswers: LargeAnswers;
  readonly nowMs?: () => number;
}

/**
 * Creates the shaped reads. Reads whose statement is known to be quick share connections. A client has a few other
 * reads at once, and the rest wait. Each starts on a connection for short reads. If it does not finish there in time,
 * it starts again on one of the few connections for long reads. So any number of reads that take seconds delay only
 * each other.
 */
export function createShapedReads(deps: ShapedReadsDeps): ShapedReads {
  const { quick, quickStatements, short, long, longWidth, meter, largeAnswers, nowMs = () => performance.now() } = deps;
  const inSlot = createReadSlots(long, meter);
  const places = createReadPlaces({ meter, largeAnswers });
  const shortThenLong = createShortThenLong({ short, inSlot, longWidth, meter, nowMs });
  const { slowReaders } = shortThenLong;
  const quickReads = createQuickReads({ lane: quick, statements: quickStatements, slowReaders, longWidth, places });

  const read = <R>(client: string, statement: Statement, statementMs: number): Promise<R[]> =>
    places.run(client, () => shortThenLong.read<R>(client, statement, statementMs));

  async function readShaped<R>(statement: Statement, statementMs: number): Promise<R[]> {
    const client = clientOfRead();
    return (await quickReads.tryRead<R>(client, statement)) ?? read<R>(client, statement, statementMs);
  }

  /** Reads on a lane. Returns undefined if the read must start again as an ordinary shaped read. */
  async function tryLane<R>(lane: Pick<ReadLane, 'read'>, statement: Statement): Promise<R[] | undefined> {
    if (!slowReaders.isEmpty && slowReaders.isKnownSlow(clientOfRead(), statement)) return undefined;
    try {
      const rows = await lane.read<R>(statement);
      return places.keeps(rows, clientOfRead) ? rows : undefined;
    } catch (error) {
      if (!isDatabaseError(error, sqlState.queryCanceled)) throw error;
      slowReaders.note(clientOfRead(), statement);
      return undefined;
    }
  }

  return {
    read: readShaped,
    together(statementMs) {
      let leftMs = statementMs;
      const onRan = (tookMs: number) => {
        leftMs -= tookMs;
      };
      return (statement) => readShaped({ ...statement, onRan }, wholeMs(leftMs));
    },
    async readOn<R>(lane: Pick<ReadLane, 'read'>, statement: Statement, statementMs: number) {
      return (await tryLane<R>(lane, statement)) ?? read<R>(clientOfRead(), statement, statementMs);
    },
    transaction(work, statementMs) {
      const client = clientOfRead();
      return places.run(client, () =>
        inSlot(client, (query) => work(query, withinTime(query, statementMs, nowMs)), statementMs),
      );
    },
  };
}

/** PostgreSQL takes 0 for no limit. */
const wholeMs = (ms: number): number => Math.max(Math.ceil(ms), 1);

/** Gives a transaction's statements one time together. A quick one leaves the time as it is. */
function withinTime(query: Query, statementMs: number, nowMs: () => number): Query {
  let leftMs = statementMs;
  return async (statement) => {
    if (leftMs < statementMs * 0.9) await query(timeOf(leftMs));
    const startedAtMs = nowMs();
    try {
      return await query(statement);
    } finally {
      leftMs -= nowMs() - startedAtMs;
    }
  };
}

const timeOf = (leftMs: number): Statement => ({
  text: "select set_config('statement_timeout', $1, true)",
  values: [String(wholeMs(leftMs))],
});

const clientOfRead = (): string => currentClient() ?? 'own';
