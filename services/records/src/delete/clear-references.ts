import { originOf } from '@recordbus/journal';
import type { Collection, Field } from '@recordbus/schema';
import type { CascadeSet } from './cascade-set.ts';
import { composeSetNull } from './delete-sql.ts';
import type { Deletion } from './deletion.ts';
import { clears, type FindReferrers } from './referrers.ts';

/** A `setNull` or `restrictLast` relation field, and the deleted records in its target collection. */
export interface Clearing {
  readonly field: Field;
  readonly ids: ReadonlySet<string>;
  /** Whether the list keeps its last entry. */
  readonly keepsLast: boolean;
}

/** The `setNull` and `restrictLast` relations that refer to deleted records, by their collection. */
export function findClearings(
  cascadeSet: CascadeSet,
  findReferrers: FindReferrers,
): ReadonlyMap<Collection, Clearing[]> {
  const clearings = new Map<Collection, Clearing[]>();
  for (const [target, ids] of cascadeSet) {
    for (const { collection, field, cascade } of findReferrers(target)) {
      if (!clears(cascade)) continue;
      const keepsLast = cascade === 'restrictLast';
      clearings.set(collection, [...(clearings.get(collection) ?? []), { field, ids, keepsLast }]);
    }
  }
  return clearings;
}

/** The values for the statements that clear these relations. */
export const clearedValues = (cascadeSet: CascadeSet, collection: Collection, clearings: readonly Clearing[]) => ({
  deleted: [...(cascadeSet.get(collection) ?? [])],
  targets: new Map(clearings.map(({ field, ids }) => [field.name, [...ids]])),
});

/**
 * Clears the `setNull` and `restrictLast` relations in records outside the cascade set that refer to it, with one
 * statement for each collection. Collections with update hooks are cleared record by record (clear-hooked.ts).
 */
export async function clearReferences({ unit, call, rules }: Deletion, cascadeSet: CascadeSet): Promise<void> {
  for (const [collection, clearings] of findClearings(cascadeSet, rules.findReferrers)) {
    if (rules.hooks.find(collection, 'update')) continue;
    const { text, valuesFrom } = composeSetNull(
      collection,
      clearings.map(({ field }) => field),
    );
    const values = valuesFrom({ ...originOf(call), ...clearedValues(cascadeSet, collection, clearings) });
    await unit.query({ text, values });
  }
}
