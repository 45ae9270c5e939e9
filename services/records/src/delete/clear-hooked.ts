import type { Collection } from '@recordbus/schema';
import type { StoredRecord } from '../read/read-stored.ts';
import { withoutRules } from '../rules/compile-rule.ts';
import { perCollection } from '../sql/prepared.ts';
import { writeChange } from '../write/update-record.ts';
import type { BeforeWrite } from '../write/write-hooks.ts';
import { type Blocker, blockedBy } from './blockers.ts';
import { type Clearing, findClearings } from './clear-references.ts';
import { composeLockCleared } from './delete-sql.ts';
import type { Doomed } from './doomed.ts';
import type { HookedDeletion } from './follow-hooked.ts';
import { readInTurn } from './read-in-turn.ts';

/**
 * Clears the `setNull` relations of collections with hooks, which see the cleared fields as the values of an update:
 * one update and one event for each record, however many of its fields are cleared. Gives how many records it was.
 * Throws 409 when a relation that was cleared points at something that goes once more.
 */
export async function clearHooked(deletion: HookedDeletion, doomed: Doomed): Promise<number> {
  const { query, context, rules, done } = deletion;
  const again: Blocker[] = [];
  let count = 0;
  for (const [collection, clearings] of findClearings(doomed, rules.findReferrers)) {
    const before = rules.hooks.find(collection, 'update');
    if (!before) continue;
    const rows = await query<{ id: string }>({
      text: composeLockCleared(
        collection,
        clearings.map(({ field }) => field),
      ),
      values: [[...(doomed.get(collection) ?? [])], ...clearings.map(({ ids }) => [...ids])],
    });
    const ids = rows.map(({ id }) => id);
    for await (const { id, record } of readInTurn(deletion, collection, ids)) {
      const fields = fieldsToClear(clearings, record);
      const keyOf = (field: string) => `${collection.id}/${id}/${field}`;
      again.push(...fields.filter((field) => done.has(keyOf(field))).map((field) => ({ collection, id, field })));
      if (fields.length === 0 || again.length > 0) continue;
      for (const field of fields) done.add(keyOf(field));
      await clear(deletion, before, { collection, record, id, fields });
      count += 1;
    }
  }
  if (again.length > 0)
    throw blockedBy(again, again.length, context.principal, 'hooks let other records refer to what is deleted');
  return count;
}

/** Hooks of others may have cleared some by now. */
const fieldsToClear = (clearings: readonly Clearing[], record: StoredRecord): string[] =>
  clearings.filter(({ field, ids }) => ids.has(String(record[field]))).map(({ field }) => field);

interface ClearedRecord {
  readonly collection: Collection;
  readonly id: string;
  readonly record: StoredRecord;
  readonly fields: readonly string[];
}

async function clear(
  { query, watched, context, asking, rules, deadlineMs }: HookedDeletion,
  before: BeforeWrite,
  { collection, id, record, fields }: ClearedRecord,
): Promise<void> {
  const target = clearable(collection, fields);
  const body = await before({
    query: watched.query,
    collection: target,
    id,
    body: Object.fromEntries(fields.map((field) => [field, null])),
    previous: record,
    context,
    deadlineMs,
  });
  // Where the hook has deleted the record, there is nothing left to clear.
  await writeChange(query, target, { id, body, versions: undefined }, context, withoutRules(asking), rules);
}

const variants = perCollection(() => new Map<string, Collection>());

/** The collection without a demand for values of these fields: they are cleared although they are required (contract §2). */
function clearable(collection: Collection, fields: readonly string[]): Collection {
  const key = fields.join();
  let variant = variants(collection).get(key);
  if (!variant) {
    const relaxed = collection.fields.map((field) =>
      fields.includes(field.name) ? { ...field, required: false } : field,
    );
    variant = { ...collection, fields: relaxed };
    variants(collection).set(key, variant);
  }
  return variant;
}
