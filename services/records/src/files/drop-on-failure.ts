import type { Database } from '@recordbus/database';
import { heartbeat } from '@recordbus/shared/background';
import { dropAnnounced, renewAnnounced } from './announced-files.ts';
import type { Removals } from './removals.ts';

/** How often running work renews its announced files, in milliseconds. */
const renewalMs = 60_000;

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
  const endRenewal = heartbeat(renewalMs, async () => announced.length > 0 && renewAnnounced(query, announced));
  try {
    return await work(announced);
  } catch (error) {
    if (announced.length > 0) await dropAnnounced(query, announced).then(removals.wake, () => {});
    throw error;
  } finally {
    endRenewal();
  }
}
