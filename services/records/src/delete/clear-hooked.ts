import { type Collection, perCollection } from '@recordbus/schema';
import type { StoredRecord } from '../read/read-stored.ts';
import { withoutRules } from '../rules/rule-context.ts';
import { writeChange } from '../write/update-record.ts';
import type { BeforeWrite } from '../write/write-hooks.ts';
import { type Blocker, blockedBy } from './blockers.ts';
import type { CascadeSet } from './cascade-set.ts';
import { type Clearing, clearedValues, findClearings } from './clear-references.ts';
import { composeLockCleared } from './delete-sql.ts';
import type { HookedDeletion } from './deletion.ts';
import { readInTurn } from './read-in-turn.ts';
import { refersToOneOf } from './referrers.ts';

/**
 * Clears the `setNull` and `restrictLast` relations in collections with update hooks, whose body is the cleared fields:
 * one update and one event for each record, however many of its fields are cleared. Returns how many records it
 * changed. Throws 409 when a hook lets a cleared relation refer to a deleted record again, and for the last entry of a
 * list with `restrictLast`.
 */
export async function clearHooked(deletion: HookedDeletion, cascadeSet: CascadeSet): Promise<number> {
  const { unit, call, rules, done } = deletion;
  const again: Blocker[] = [];
  const last: Blocker[] = [];
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
      const cleared = clearedFields(clearings, record);
      const keysOf = ({ field, deleted }: ClearedField) =>
        deleted.map((target) => `${collection.id}/${id}/${field}/${target}`);
      const hasReturned = (field: ClearedField) => keysOf(field).some((key) => done.has(key));
      again.push(...cleared.filter(hasReturned).map(({ field }) => ({ collection, id, field })));
      last.push(...cleared.filter(isEmptied).map(({ field }) => ({ collection, id, field })));
      if (cleared.length === 0 || again.length > 0 || last.length > 0) continue;
      for (const field of cleared) for (const key of keysOf(field)) done.add(key);
      await clear(deletion, before, { collection, record, id, cleared });
      count += 1;
    }
  }
  if (last.length > 0) throw blockedBy(last, last.length, call.principal, 'other records refer to this one');
  if (again.length > 0)
    throw blockedBy(again, again.length, call.principal, 'hooks let other records refer to deleted records');
  return count;
}

/** A record's relation that refers to deleted records. */
interface ClearedField {
  readonly field: string;
  /** The deleted targets in a list; a relation to one record is cleared once, whatever its target. */
  readonly deleted: readonly string[];
  /** The value without them. */
  readonly value: readonly unknown[] | null;
  readonly keepsLast: boolean;
}

const isEmptied = ({ keepsLast, value }: ClearedField): boolean => keepsLast && value?.length === 0;

/** The fields that still refer to deleted records: other records' hooks may have cleared some. */
const clearedFields = (clearings: readonly Clearing[], record: StoredRecord): ClearedField[] =>
  clearings.flatMap(({ field: { name }, ids, keepsLast }): ClearedField[] => {
    const value = record[name];
    if (!refersToOneOf(value, ids)) return [];
    if (!Array.isArray(value)) return [{ field: name, deleted: [''], value: null, keepsLast }];
    const isDeleted = (id: unknown) => ids.has(String(id));
    const kept = value.filter((id) => !isDeleted(id));
    return [{ field: name, deleted: value.filter(isDeleted).map(String), value: kept, keepsLast }];
  });

interface ClearedRecord {
  readonly collection: Collection;
  readonly id: string;
  readonly record: StoredRecord;
  readonly cleared: readonly ClearedField[];
}

async function clear(
  { unit, watched, call, rules, deadlineMs }: HookedDeletion,
  before: BeforeWrite,
  { collection, id, record, cleared }: ClearedRecord,
): Promise<void> {
  const target = withOptionalFields(
    collection,
    cleared.map(({ field }) => field),
  );
  const body = await before({
    unit: watched,
    collection: target,
    id,
    body: Object.fromEntries(cleared.map(({ field, value }) => [field, value])),
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
