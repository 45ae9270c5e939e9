import type { Collection } from '@recordbus/schema';
import type { StoredRecord } from '../read/read-stored.ts';
import type { CascadeLevel, CascadeSet } from './cascade-set.ts';
import type { HookedDeletion } from './deletion.ts';
import { readInTurn } from './read-in-turn.ts';
import { refersToOneOf } from './referrers.ts';

/** Runs the delete hooks of a level's records, each once per delete. */
export async function runDeleteHooks(
  deletion: HookedDeletion,
  level: CascadeLevel,
  cascadeSet: CascadeSet,
): Promise<void> {
  const { watched, call, rules, deadlineMs, done } = deletion;
  for (const [collection, ids] of level) {
    const before = rules.hooks.find(collection, 'delete');
    if (!before) continue;
    const keyOf = (id: string) => `${collection.id}/${id}`;
    const pending = ids.filter((id) => !done.has(keyOf(id)));
    for await (const { id, record } of readInTurn(deletion, collection, pending)) {
      if (!isStillTarget(deletion, cascadeSet, collection, record)) continue;
      done.add(keyOf(id));
      await before({ unit: watched, collection, id, body: {}, previous: record, context: call, deadlineMs });
    }
  }
}

/** Whether the record still belongs to the cascade set: other records' hooks may have changed its relations. */
function isStillTarget(
  { root, rules }: HookedDeletion,
  cascadeSet: CascadeSet,
  collection: Collection,
  record: StoredRecord,
): boolean {
  if (collection === root.collection && record.id === root.id) return true;
  return [...cascadeSet].some(([target, ids]) =>
    rules
      .findReferrers(target)
      .some(
        (referrer) =>
          referrer.collection === collection &&
          referrer.cascade === 'cascade' &&
          refersToOneOf(record[referrer.field.name], ids),
      ),
  );
}
