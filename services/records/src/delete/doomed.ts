import type { Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import { composeLockReferring } from './delete-sql.ts';
import type { FindReferrers } from './referrers.ts';

/** The ids that one delete removes, by collection. */
export type Doomed = ReadonlyMap<Collection, ReadonlySet<string>>;

/** Those of them that were found last. */
export type Level = ReadonlyMap<Collection, readonly string[]>;

/**
 * Follows the `cascade` relations from a record that is locked and locks what it meets, level by level with one
 * statement for each relation, so that ten thousand children cost what one does. A record is followed once, so
 * circles end. Each level, the record itself at first, is visited before it is followed.
 */
export async function lockDoomed(
  query: Query,
  root: { readonly collection: Collection; readonly id: string },
  findReferrers: FindReferrers,
  visit?: (level: Level, doomed: Doomed) => Promise<void>,
): Promise<Doomed> {
  const doomed = new Map<Collection, Set<string>>([[root.collection, new Set([root.id])]]);
  let level = new Map<Collection, string[]>([[root.collection, [root.id]]]);
  while (level.size > 0) {
    await visit?.(level, doomed);
    const next = new Map<Collection, string[]>();
    for (const [target, ids] of level) {
      for (const referrer of findReferrers(target)) {
        if (referrer.cascade !== 'cascade') continue;
        const { collection } = referrer;
        const rows = await query<{ id: string }>({ text: composeLockReferring(referrer), values: [ids] });
        const known = doomed.get(collection) ?? new Set();
        const found = rows.map(({ id }) => id).filter((id) => !known.has(id));
        if (found.length === 0) continue;
        doomed.set(collection, new Set([...known, ...found]));
        next.set(collection, [...(next.get(collection) ?? []), ...found]);
      }
    }
    level = next;
  }
  return doomed;
}
