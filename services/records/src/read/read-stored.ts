import type { Query } from '@recordbus/database';
import {
  type Collection,
  type FieldEncryption,
  perCollection,
  recordColumns,
  selectList,
  tableOf,
} from '@recordbus/schema';

/** A record with every member that an admin may read. */
export type StoredRecord = Readonly<Record<string, unknown>>;

const compiled = perCollection(
  (collection) => `select t.id, row_to_json(r.*) as record from ${tableOf(collection)} t
cross join lateral (select ${selectList(recordColumns(collection), 't')}) r where t.id = any($1::text[])`,
);

/** Reads records by id for use before a write: encrypted fields are decrypted, and no rule is checked. */
export async function readStored(
  query: Query,
  collection: Collection,
  ids: readonly string[],
  encryption: FieldEncryption,
): Promise<ReadonlyMap<string, StoredRecord>> {
  const rows = await query<{ id: string; record: Record<string, unknown> }>({
    text: compiled(collection),
    values: [ids],
  });
  for (const { record } of rows) await encryption.decryptRecord(collection, record);
  return new Map(rows.map(({ id, record }) => [id, record]));
}
