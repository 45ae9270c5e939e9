import type { Collection } from '@recordbus/schema';
import type { StoredRecord } from '../read/read-stored.ts';
import { perCollection } from '../record/prepared.ts';
import { withoutRules } from '../rules/rule-context.ts';
import { writeChange } from '../write/update-record.ts';
import type { BeforeWrite } from '../write/write-hooks.ts';
import { type Blocker, blockedBy } from './blockers.ts';
import type { CascadeSet } from './cascade-set.ts';
import { type Clearing, clearedValues, findClearings } from './clear-references.ts';
import { composeLockCleared } from './delete-sql.ts';
import type { HookedDeletion } from './deletion.ts';
import { readInTurn } from './read-in-turn.ts';

/**
 * Clears the `setNull` relations of collections with update hooks, whose body is the cleared fields: one update and one
 * event for each record, however many of its fields are cleared. Returns the number of records. Throws 409 when a hook
 * lets a cleared relation refer to a deleted record again.
 */
export async function clearHooked(deletion: HookedDeletion, cascadeSet: CascadeSet): Promise<number> {
  const { unit, call, rules, done } = deletion;
  const again: Blocker[] = [];
  let count = 0;
  for (const [collection, clearings] of findClearings(cascadeSet, rules.findReferrers)) {
    const before = rules.hooks.find(collection, 'update');
    if (!before) continue;
    const { text, valuesFrom } = composeLockCleared(
      collection,
      clearings.map(({ field }) => field),
    );
    const values = valuesFrom(clearedValues(cascadeSet, collection, clearings));
    const rows = await unit.query<{ id: string }>({ text, values });
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
    throw blockedBy(again, again.length, call.principal, 'hooks let other records refer to deleted records');
  return count;
}

/** The fields that still refer to deleted records: hooks of other records may have cleared some. */
const fieldsToClear = (clearings: readonly Clearing[], record: StoredRecord): string[] =>
  clearings.filter(({ field, ids }) => ids.has(String(record[field]))).map(({ field }) => field);

interface ClearedRecord {
  readonly collection: Collection;
  readonly id: string;
  readonly record: StoredRecord;
  readonly fields: readonly string[];
}

async function clear(
  { unit, watched, call, rules, deadlineMs }: HookedDeletion,
  before: BeforeWrite,
  { collection, id, record, fields }: ClearedRecord,
): Promise<void> {
  const target = withOptionalFields(collection, fields);
  const body = await before({
    unit: watched,
    collection: target,
    id,
    body: Object.fromEntries(fields.map((field) => [field, null])),
    previous: record,
    context: call,
    deadlineMs,
  });
  // If the hook has deleted the record, this writes nothing.
  await writeChange(unit, target, { id, body, versions: undefined }, withoutRules(call), rules);
}

const variants = perCollection(() => new Map<string, Collection>());

/** The collection with these fields optional: required fields are cleared too (records §7.1). */
function withOptionalFields(collection: Collection, fields: readonly string[]): Collection {
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
