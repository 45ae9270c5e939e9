import type { Collection } from '@recordbus/schema';
import { readStored, type StoredRecord } from '../read/read-stored.ts';
import type { HookedDeletion } from './follow-hooked.ts';

const portionSize = 100;

/**
 * Reads records whose hooks run one after the other: many at once, but one by one as soon as the hooks have asked for
 * something. Records that are gone by then are left out.
 */
export async function* readInTurn(
  { query, watched, rules }: Pick<HookedDeletion, 'query' | 'watched' | 'rules'>,
  collection: Collection,
  ids: readonly string[],
): AsyncGenerator<{ readonly id: string; readonly record: StoredRecord }> {
  for (let at = 0; at < ids.length; at += portionSize) {
    const portion = ids.slice(at, at + portionSize);
    const { asked } = watched;
    const records = await readStored(query, collection, portion, rules.sealing);
    for (const id of portion) {
      const isCurrent = watched.asked === asked;
      const current = isCurrent ? records : await readStored(query, collection, [id], rules.sealing);
      const record = current.get(id);
      if (record) yield { id, record };
    }
  }
}
