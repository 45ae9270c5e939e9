import type { Database } from '@recordbus/database';
import { underLease } from '@recordbus/queue';
import { dropAnnounced, renewAnnounced } from './announced-files.ts';
import type { Removals } from './removals.ts';

/** How often running work renews its announced files, in milliseconds. */
const renewMs = 60_000;

/**
 * Runs work that announces files, and renews them while it runs. If it fails, they are removed: now, or by another replica
 * if this one dies.
 */
export async function dropOnFailure<T>(
  {
    database: { query },
    removals,
  }: {
    readonly database: Pick<Database, 'query'>;
    readonly removals: Pick<Removals, 'wake'>;
  },
  work: (announced: number[]) => Promise<T>,
): Promise<T> {
  const announced: number[] = [];
  const renew = async () => {
    if (announced.length > 0) await renewAnnounced(query, announced);
  };
  try {
    return await underLease({ renewMs, renew }, () => work(announced));
  } catch (error) {
    if (announced.length > 0) await dropAnnounced(query, announced).then(removals.wake, () => {});
    throw error;
  }
}
