import type { Database } from '@recordbus/database';
import { dropAnnounced } from './announced-files.ts';
import type { Removals } from './removals.ts';

/** Runs work that announces files. If it fails, they are removed: now, or by another replica if this one dies. */
export async function dropOnFailure<T>(
  { database, removals }: { readonly database: Pick<Database, 'query'>; readonly removals: Pick<Removals, 'wake'> },
  work: (announced: number[]) => Promise<T>,
): Promise<T> {
  const announced: number[] = [];
  try {
    return await work(announced);
  } catch (error) {
    if (announced.length > 0) await dropAnnounced(database.query, announced).then(removals.wake, () => {});
    throw error;
  }
}
