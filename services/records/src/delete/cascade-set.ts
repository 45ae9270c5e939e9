import type { Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import { composeLockReferring } from './delete-sql.ts';
import type { FindReferrers } from './referrers.ts';

/** The ids that one delete removes, by collection. */
export type CascadeSet = ReadonlyMap<Collection, ReadonlySet<string>>;

/** The ids that one step in the search for a cascade set found, by collection. */
export type CascadeLevel = ReadonlyMap<Collection, readonly string[]>;

/**
 * Follows the `cascade` relations from a locked record and locks the records that it finds, level by level with one
 * statement for each relation, so ten thousand children take as many statements as one. A record is followed once, so
 * circles end. `visit` gets each level, the first with the record itself, before it is followed.
 */
export async function lockCascadeSet(
  query: Query,
  root: { readonly collection: Collection; readonly id: string },
  findReferrers: FindReferrers,
  visit?: (level: CascadeLevel, known: CascadeSet) => Promise<void>,
): Promise<CascadeSet> {
  const cascadeSet = new Map<Collection, Set<string>>([[root.collection, new Set([root.id])]]);
  let level = new Map<Collection, string[]>([[root.collection, [root.id]]]);
  while (level.size > 0) {
    await visit?.(level, cascadeSet);
    const next = new Map<Collection, string[]>();
    for (const [target, ids] of level) {
      for (const referrer of findReferrers(target)) {
        if (referrer.cascade !== 'cascade') continue;
        const { collection } = referrer;
        const rows = await query<{ id: string }>({ text: composeLockReferring(referrer), values: [ids] });
        const known = cascadeSet.get(collection) ?? new Set();
        const found = rows.map(({ id }) => id).filter((id) => !known.has(id));
        if (found.length === 0) continue;
        cascadeSet.set(collection, new Set([...known, ...found]));
        next.set(collection, [...(next.get(collection) ?? []), ...found]);
      }
    }
    level = next;
  }
  return cascadeSet;
}
