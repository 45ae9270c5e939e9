import type { Query } from '@recordbus/database';
import { AppError } from '@recordbus/errors';

/** The share of the limit that a replica adds between two counts. */
const slack = 0.01;
/** While an extension is above its limit, its jobs are counted at most this often, in milliseconds. */
const recountMs = 1000;

/**
 * Creates the check that refuses jobs while too many of an extension's wait. It counts them once for many enqueues, so
 * each replica may exceed the limit by a hundredth.
 */
export function createPendingLimit(query: Query, limit: () => number): (extension: string) => Promise<void> {
  const known = new Map<string, { count: number; added: number; atMs: number }>();

  async function recount(extension: string): Promise<{ count: number; added: number; atMs: number }> {
    const [row] = await query<{ count: number }>({
      // Each part reads one index.
      text: `select (
          (select count(*) from system.extension_jobs where extension = $1 and state = 'pending' and is_due)
          + (select count(*) from system.extension_jobs where extension = $1 and state = 'pending' and not is_due)
        )::float8 as count`,
      values: [extension],
    });
    const counted = { count: row?.count ?? 0, added: 0, atMs: performance.now() };
    known.set(extension, counted);
    return counted;
  }

  return async (extension) => {
    const most = limit();
    const isFull = ({ count, added }: { count: number; added: number }) => count + added >= most;
    const isStale = ({ added }: { added: number }) => added >= most * slack;
    let last = known.get(extension);
    if (!last || isStale(last) || (isFull(last) && performance.now() - last.atMs >= recountMs))
      last = await recount(extension);
    if (isFull(last))
      throw new AppError(503, 'too_many_jobs', `${last.count} jobs of the extension ${extension} are waiting`);
    last.added += 1;
  };
}
