import { unavailable } from '@recordbus/shared/errors';
import { createFairGate } from '@recordbus/shared/fair-gate';
import type { ClassMeter } from './class-meter.ts';
import { classOf, shapedReadBudget } from './connection-budget.ts';
import type { ConnectionPool } from './connection-pool.ts';
import { isDatabaseError, sqlState } from './errors.ts';
import type { InReadSlot } from './read-slots.ts';
import { createSlowReaders, type SlowReaders } from './slow-readers.ts';
import type { Query, Statement } from './statement.ts';

/** Begins reads on connections for short ones, and continues those that take longer on connections for long ones. */
export interface ShortThenLong {
  read<R>(client: string, statement: Statement, statementMs: number): Promise<R[]>;
  /** The memory of slow reads, for reads that begin elsewhere. */
  readonly slowReaders: SlowReaders;
}

interface ShortThenLongDeps {
  readonly short: Pick<ConnectionPool, 'query'>;
  readonly inSlot: InReadSlot;
  /** Returns how many long reads run at once now. */
  readonly longWidth: () => number;
  readonly meter: ClassMeter;
  readonly nowMs: () => number;
}

/** Creates them. Clients whose recent reads were long share a part of the short connections. */
export function createShortThenLong({ short, inSlot, longWidth, meter, nowMs }: ShortThenLongDeps): ShortThenLong {
  const slowReaders = createSlowReaders(nowMs);
  const { statementMs: shortMs, connections: shortConnections } = classOf('shortReads');
  /** A statement that takes no longer among the few long reads is done in time also among the many short ones. */
  const quickMs = () => (shortMs * longWidth()) / shortConnections;
  const slowClients = createFairGate({
    width: shapedReadBudget.slowClientConnections,
    maxWaiting: shapedReadBudget.atOnce,
    maxWaitMs: shapedReadBudget.waitMs,
    refuse() {
      meter.refused();
      return unavailable('too many reads are waiting');
    },
  });

  async function readShort<R>(client: string, statement: Statement): Promise<R[]> {
    const read = () => short.query<R>(statement);
    return slowReaders.isSlow(client) ? slowClients.run(client, read) : read();
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
      if (nowMs() - startedAtMs < quickMs()) slowReaders.forget(client, statement);
      else slowReaders.note(client, statement);
    }
  }

  return {
    slowReaders,
    async read<R>(client: string, statement: Statement, statementMs: number) {
      if (statementMs > shortMs && !slowReaders.isKnownSlow(client, statement)) {
        try {
          return await readShort<R>(client, statement);
        } catch (error) {
          if (!isDatabaseError(error, sqlState.queryCanceled)) throw error;
          slowReaders.note(client, statement);
        }
      }
      return inSlot(client, (query) => readLong<R>(client, statement, query), statementMs);
    },
  };
}
