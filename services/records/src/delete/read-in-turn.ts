import type { Collection } from '@recordbus/schema';
import { readStored, type StoredRecord } from '../read/read-stored.ts';
import type { HookedDeletion } from './deletion.ts';

const batchSize = 100;

/**
 * Reads records whose hooks run one after the other: many at once until a hook runs a statement, then each by itself.
 * Records that hooks have deleted are left out.
 */
export async function* readInTurn(
  { unit: { query }, watched, rules }: Pick<HookedDeletion, 'unit' | 'watched' | 'rules'>,
  collection: Collection,
  ids: readonly string[],
): AsyncGenerator<{ readonly id: string; readonly record: StoredRecord }> {
  for (let at = 0; at < ids.length; at += batchSize) {
    const batch = ids.slice(at, at + batchSize);
    const { statements } = watched;
    const records = await readStored(query, collection, batch, rules.encryption);
    for (const id of batch) {
      const isCurrent = watched.statements === statements;
      const current = isCurrent ? records : await readStored(query, collection, [id], rules.encryption);
      const record = current.get(id);
      if (record) yield { id, record };
    }
  }
}
