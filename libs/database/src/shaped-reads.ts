import { rateLimited, unavailable } from '@recordbus/shared/errors';
import { createFairGate, type FairGate } from '@recordbus/shared/fair-gate';
import { currentClient, holdUntilAnswered, releaseHeld } from '@recordbus/shared/request-scope';
import type { ClassMeter } from './class-meter.ts';
import { classOf, shapedReadBudget } from './connection-budget.ts';
import type { ConnectionPool } from './connection-pool.ts';
import { isDatabaseError, sqlState } from './errors.ts';
import { type GiveBack, type LargeAnswers, largeBytesOf } from './large-answers.ts';
import type { ReadLane } from './read-lane.ts';
import { createReadSlots } from './read-slots.ts';
import { createSlowReaders } from './slow-readers.ts';
import type { Query, Statement } from './statement.ts';

/** Shaped reads. The server ends each statement after the given time, in milliseconds. */
export interface ShapedReads {
  read<R>(statement: Statement, statementMs: number): Promise<R[]>;
  /** Runs a read that should be quick on the lane. If it takes longer than the lane allows, it continues as a shaped read. */
  readOn<R>(lane: ReadLane, statement: Statement, statementMs: number): Promise<R[]>;
  /** Runs several statements that see one snapshot. */
  transaction<T>(work: (query: Query) => Promise<T>, statementMs: number): Promise<T>;
}

interface ShapedReadsDeps {
  readonly short: Pick<ConnectionPool, 'query'>;
  readonly long: Pick<ConnectionPool, 'transaction'>;
  readonly meter: ClassMeter;
  readonly largeAnswers: LargeAnswers;
  readonly nowMs?: () => number;
}

/**
 * Creates the shaped reads. A client has a few at once; its further ones wait. Each read begins on a connection for short
 * reads. If it is not done there in time, it begins again on one of the few for long reads. So any number of reads that
 * take seconds delay each other and not quick ones. Clients whose recent reads were long share a part of the short
 * connections. A large answer keeps its client's place until it is sent.
 */
export function createShapedReads({
  short,
  long,
  meter,
  largeAnswers,
  nowMs = () => performance.now(),
}: ShapedReadsDeps): ShapedReads {
  const { atOnce, waitMs, slowClientConnections } = shapedReadBudget;
  const slowReaders = createSlowReaders(nowMs);
  const inSlot = createReadSlots(long, meter);
  const refuse = (because: 'client' | 'all') => {
    meter.refused();
    return because === 'client' ? rateLimited(1) : unavailable('too many reads are waiting');
  };
  const places = createPlaces(refuse, meter);
  const admission = createFairGate({
    width: atOnce,
    maxWaiting: shapedReadBudget.maxWaiting,
    maxWaitMs: waitMs,
    refuse: () => refuse('all'),
    onWaited: meter.waited,
  });
  meter.watch({
    connections: () => 0,
    idle: () => 0,
    inUse: () => admission.running,
    waiting: () => places.waiting + admission.waiting,
  });
  const slowClients = createFairGate({
    width: slowClientConnections,
    maxWaiting: atOnce,
    maxWaitMs: waitMs,
    refuse: () => refuse('all'),
  });
  const { statementMs: shortMs, connections: shortConnections } = classOf('shortReads');
  /**
   * A statement that takes no longer on a long connection, of which there are as many as cores, is done in time also when
   * all short connections are busy.
   */
  const quickMs = (shortMs * classOf('longReads').connections) / shortConnections;

  async function readShort<R>(client: string, statement: Statement): Promise<R[]> {
    const read = () => short.query<R>(statement);
    return slowReaders.isSlow(client) ? slowClients.run(client, read) : read();
  }

  async function beginShort<R>(client: string, statement: Statement, statementMs: number): Promise<R[]> {
    if (statementMs > shortMs && !slowReaders.isKnownSlow(client, statement)) {
      try {
        return await readShort<R>(client, statement);
      } catch (error) {
        if (!isDatabaseError(error, sqlState.queryCanceled)) throw error;
        slowReaders.note(client, statement);
      }
    }
    return inSlot(client, (query) => readLong<R>(client, statement, query), statementMs);
  }

  /**
   * Runs a long read. A statement that is quick here was only delayed before: next time it begins as a short one. One
   * that is slow again is remembered for longer.
   */
  async function readLong<R>(client: string, statement: Statement, query: Query): Promise<R[]> {
    const startedAtMs = nowMs();
    try {
      return await query<R>(statement);
    } finally {
      if (nowMs() - startedAtMs < quickMs) slowReaders.forget(client, statement);
      else slowReaders.note(client, statement);
    }
  }

  /** Returns the result of a read if it is small or there is room for it, else only its size. */
  async function attempt<T>(read: () => Promise<T>, leave: GiveBack): Promise<Attempt<T>> {
    const result = await read();
    const largeBytes = largeBytesOf(result);
    if (largeBytes === 0) {
      leave();
      return { result };
    }
    return keep(largeBytes, leave) ? { result } : { largeBytes };
  }

  function keep(largeBytes: number, leave: GiveBack): boolean {
    const giveBack = largeAnswers.tryTake(largeBytes);
    if (giveBack) keepBoth(giveBack, leave);
    return giveBack !== undefined;
  }

  /** Reads in a place of the client. Without room for the result it waits without it, and reads again. */
  async function inPlace<T>(client: string, read: () => Promise<T>): Promise<T> {
    releaseHeld();
    const leave = await places.enter(client);
    const admitted = () => admission.run(client, read);
    try {
      const first = await attempt(admitted, leave);
      if ('result' in first) return first.result;
      const giveBack = await largeAnswers.take(first.largeBytes);
      keepBoth(giveBack, leave);
      return await admitted();
    } catch (error) {
      releaseHeld();
      leave();
      throw error;
    }
  }

  /** Reads on a lane; undefined for a read that has to continue in a place of the client. */
  async function tryLane<R>(lane: ReadLane, statement: Statement): Promise<R[] | undefined> {
    if (!slowReaders.isEmpty && slowReaders.isKnownSlow(clientOfRead(), statement)) return undefined;
    try {
      const rows = await lane.read<R>(statement);
      const largeBytes = largeBytesOf(rows);
      if (largeBytes === 0) return rows;
      const leave = places.tryEnter(clientOfRead());
      if (leave && keep(largeBytes, leave)) return rows;
      leave?.();
    } catch (error) {
      if (!isDatabaseError(error, sqlState.queryCanceled)) throw error;
      slowReaders.note(clientOfRead(), statement);
    }
    return undefined;
  }

  const read = <R>(client: string, statement: Statement, statementMs: number): Promise<R[]> =>
    inPlace(client, () => beginShort<R>(client, statement, statementMs));

  return {
    read: (statement, statementMs) => read(clientOfRead(), statement, statementMs),
    async readOn<R>(lane: ReadLane, statement: Statement, statementMs: number) {
      return (await tryLane<R>(lane, statement)) ?? read<R>(clientOfRead(), statement, statementMs);
    },
    transaction(work, statementMs) {
      const client = clientOfRead();
      return inPlace(client, () => inSlot(client, work, statementMs));
    },
  };
}

type Attempt<T> = { readonly result: T } | { readonly largeBytes: number };

const clientOfRead = (): string => currentClient() ?? 'own';

/** The places of clients. Each client has its own. */
const createPlaces = (refuse: (because: 'client' | 'all') => Error, { waited }: ClassMeter): FairGate =>
  createFairGate({
    width: Number.POSITIVE_INFINITY,
    widthPerClient: shapedReadBudget.perClient,
    maxWaiting: shapedReadBudget.maxWaiting,
    maxWaitingPerClient: shapedReadBudget.maxWaitingPerClient,
    maxWaitMs: shapedReadBudget.waitMs,
    refuse,
    onWaited: waited,
  });

const keepBoth = (giveBack: GiveBack, leave: GiveBack): void =>
  holdUntilAnswered(() => {
    giveBack();
    leave();
  });
