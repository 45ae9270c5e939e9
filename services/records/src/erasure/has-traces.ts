import type { Query } from '@recordbus/database';
import { historyTableOf } from '@recordbus/journal';
import { type Collection, tableOf } from '@recordbus/schema';

/** Whether a record exists, or anything still shows that it did: a version, an event, an outbox row or an erasure. */
export async function hasTraces(query: Query, collection: Collection, id: string): Promise<boolean> {
  const { rows: history } = await hasHistory(query, collection, id);
  if (history) return true;
  const [row] = await query<{ is_known: boolean }>({
    text: `select exists (select from ${tableOf(collection)} where id = $1)
        or exists (select from system.erased_records where collection_id = $2 and record_id = $1 and erased_at is not null)
        or exists (select from system.outbox where collection_id = $2 and split_part(record_key, '/', 2) = $1)
        or exists (select from system.events where record_id = $1 and split_part(event, '.', 1) = $3) as is_known`,
    values: [id, collection.id, collection.name],
  });
  return row?.is_known === true;
}

/** A collection may have a history table from a time when it kept its history. */
async function hasHistory(query: Query, collection: Collection, id: string): Promise<{ readonly rows: boolean }> {
  const table = historyTableOf(collection);
  const [found] = await query<{ is_there: boolean }>({
    text: 'select to_regclass($1) is not null as is_there',
    values: [table],
  });
  if (!found?.is_there) return { rows: false };
  const [row] = await query<{ rows: boolean }>({
    text: `select exists (select from ${table} where record_id = $1) as rows`,
    values: [id],
  });
  return { rows: row?.rows === true };
}
