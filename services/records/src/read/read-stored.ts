import type { Query } from '@recordbus/database';
import { type Collection, type FieldSealing, recordColumns, selectList, tableOf } from '@recordbus/schema';
import { perCollection } from '../sql/prepared.ts';

/** A record as an admin sees it. */
export type StoredRecord = Readonly<Record<string, unknown>>;

const compiled = perCollection(
  (collection) => `select t.id, row_to_json(r.*) as record from ${tableOf(collection)} t
cross join lateral (select ${selectList(recordColumns(collection), 't')}) r where t.id = any($1::text[])`,
);

/** Reads records, by their ids, for what stands before writes: encrypted fields are open, and no rule is asked. */
export async function readStored(
  query: Query,
  collection: Collection,
  ids: readonly string[],
  sealing: FieldSealing,
): Promise<ReadonlyMap<string, StoredRecord>> {
  const rows = await query<{ id: string; record: Record<string, unknown> }>({
    text: compiled(collection),
    values: [ids],
  });
  for (const { record } of rows) sealing.openRecord(collection, record);
  return new Map(rows.map(({ id, record }) => [id, record]));
}
