import { isDatabaseError, type Query, sqlState } from '@recordbus/database';

/** How long one count may take, and all a plan's counts together, in milliseconds. */
const countMs = 2000;
const allCountsMs = 15_000;

/** A plan's counts, which must be quick on large collections too. */
export interface LimitedCounts {
  /** Runs a count in `query`'s transaction. Undefined when it takes too long. */
  count<T>(work: (query: Query) => Promise<T>): Promise<T | undefined>;
}

/** Creates one plan's counts. */
export function limitCounts(query: Query): LimitedCounts {
  const run = (text: string) => query({ text, values: [] });
  const deadlineMs = performance.now() + allCountsMs;
  return {
    async count(work) {
      const leftMs = Math.floor(Math.min(countMs, deadlineMs - performance.now()));
      if (leftMs <= 0) return undefined;
      await run('savepoint counting');
      await run(`set local statement_timeout = ${leftMs}`);
      try {
        return await work(query);
      } catch (error) {
        if (!isDatabaseError(error, sqlState.queryCanceled)) throw error;
        return undefined;
      } finally {
        // Restores the statement time too.
        await run('rollback to savepoint counting');
      }
    },
  };
}
