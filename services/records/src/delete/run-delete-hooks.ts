import type { Collection } from '@recordbus/schema';
import type { StoredRecord } from '../read/read-stored.ts';
import type { Doomed, Level } from './doomed.ts';
import type { HookedDeletion } from './follow-hooked.ts';
import { readInTurn } from './read-in-turn.ts';

/** Runs the hooks of the records of a level, each once in the whole delete. */
export async function runDeleteHooks(deletion: HookedDeletion, level: Level, doomed: Doomed): Promise<void> {
  const { watched, context, rules, deadlineMs, done } = deletion;
  for (const [collection, ids] of level) {
    const before = rules.hooks.find(collection, 'delete');
    if (!before) continue;
    const keyOf = (id: string) => `${collection.id}/${id}`;
    const fresh = ids.filter((id) => !done.has(keyOf(id)));
    for await (const { id, record } of readInTurn(deletion, collection, fresh)) {
      if (!goes(deletion, doomed, collection, record)) continue;
      done.add(keyOf(id));
      const pending = { query: watched.query, collection, id, body: {}, previous: record, context, deadlineMs };
      await before(pending);
    }
  }
}

/** Does the record still go? Hooks of others may have let it refer elsewhere. */
function goes({ root, rules }: HookedDeletion, doomed: Doomed, collection: Collection, record: StoredRecord): boolean {
  if (collection === root.collection && record.id === root.id) return true;
  return [...doomed].some(([target, ids]) =>
    rules
      .findReferrers(target)
      .some(
        (referrer) =>
          referrer.collection === collection &&
          referrer.cascade === 'cascade' &&
          ids.has(String(record[referrer.field.name])),
      ),
  );
}
