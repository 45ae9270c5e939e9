import { originValues } from '@recordbus/journal';
import type { Collection } from '@recordbus/schema';
import { composeSetNull } from './delete-sql.ts';
import type { Deletion } from './deletion.ts';
import type { Doomed } from './doomed.ts';
import type { FindReferrers } from './referrers.ts';

/** A `setNull` relation field, and the records of its target collection that go. */
export interface Clearing {
  readonly field: string;
  readonly ids: ReadonlySet<string>;
}

/** The `setNull` relations that point at collections of which records go, by the collection that has them. */
export function findClearings(doomed: Doomed, findReferrers: FindReferrers): ReadonlyMap<Collection, Clearing[]> {
  const clearings = new Map<Collection, Clearing[]>();
  for (const [target, ids] of doomed) {
    for (const { collection, field, cascade } of findReferrers(target)) {
      if (cascade !== 'setNull') continue;
      clearings.set(collection, [...(clearings.get(collection) ?? []), { field: field.name, ids }]);
    }
  }
  return clearings;
}

/**
 * Clears the `setNull` relations of the records that stay and point at one that goes, with one statement for each
 * collection; those with hooks are cleared one by one (clear-hooked.ts).
 */
export async function clearReferences({ query, context, rules }: Deletion, doomed: Doomed): Promise<void> {
  for (const [collection, clearings] of findClearings(doomed, rules.findReferrers)) {
    if (rules.hooks.find(collection, 'update')) continue;
    const going = [...(doomed.get(collection) ?? [])];
    await query({
      text: composeSetNull(
        collection,
        clearings.map(({ field }) => field),
      ),
      values: [...originValues(context), going, ...clearings.map(({ ids }) => [...ids])],
    });
  }
}
