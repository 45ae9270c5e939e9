import { rateLimited, unavailable } from '@recordbus/errors';
import { createFairGate } from '@recordbus/limits/fair-gate';
import { currentCaller } from '@recordbus/request/request-scope';
import type { ClassMeter } from '../connections/class-meter.ts';
import { classOf, shapedReadBudget, workOf } from '../connections/connection-budget.ts';
import type { WorkPlaces } from '../connections/work-places.ts';
import { isDatabaseError, sqlState } from '../errors.ts';
import type { Query, Statement } from '../statement.ts';
import type { LongReadWidth } from './long-read-width.ts';
import type { InReadSlot } from './read-slots.ts';
import { createSlowReaders, type SlowReaders } from './slow-readers.ts';

/** Starts each read on a connection for short reads. A read that takes too long starts again on one for long reads. */
export interface ShortThenLong {
  read<R>(client: string, statement: Statement, statementMs: number): Promise<R[]>;
  /** Remembers slow reads, including those that start elsewhere. */
  readonly slowReaders: SlowReaders;
}

interface ShortThenLongDeps {
  readonly short: Pick<WorkPlaces, 'query'>;
  readonly inSlot: InReadSlot;
  readonly longWidth: Pick<LongReadWidth, 'now' | 'noteShortWork'>;
  readonly meter: ClassMeter;
  readonly nowMs: () => number;
}

/** Creates the reads. Clients whose recent reads were long share a few short connections. */
export function createShortThenLong({ short, inSlot, longWidth, meter, nowMs }: ShortThenLongDeps): ShortThenLong {
  const slowReaders = createSlowReaders(nowMs);
  const { statementMs: shortMs } = classOf('shapedReads');
  const { places } = workOf('shortReads');
  /**
   * A statement that ends within this time among the few long reads would also end in time among the many short ones.
   */
  const quickMs = () => (shortMs * longWidth.now()) / places;
  const slowClients = createFairGate({
    width: shapedReadBudget.slowClientConnections,
    maxWaiting: shapedReadBudget.atOnce,
    maxWaitMs: shapedReadBudget.waitMs,
    refuse(because) {
      meter.refused();
      return because === 'client' ? rateLimited(1) : unavailable('too many reads are waiting');
    },
  });

  async function readShort<R>(client: string, statement: Statement): Promise<R[]> {
    const read = () => short.query<R>(statement);
    if (slowReaders.isSlow(client)) return slowClients.run(currentCaller(), read);
    longWidth.noteShortWork();
    return read();
  }

  /**
   * Runs a long read. A statement that is quick here was only delayed before, so next time it starts as a short one. A
   * statement that is slow again is remembered for longer.
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
