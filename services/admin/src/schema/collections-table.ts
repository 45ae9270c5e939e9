import type { Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';

/** Inserts a new collection's row. */
export async function insertCollection(query: Query, collection: Collection): Promise<void> {
  await query({
    text: `insert into system.collections (id, name, type, fields, view_query, list_rule, view_rule, create_rule,
      update_rule, delete_rule, history_enabled, durability, lacking, indexes, created_at, updated_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
    values: [
      collection.id,
      collection.name,
      collection.type,
      ...changeableValues(collection),
      collection.createdAtSec,
      collection.updatedAtSec,
    ],
  });
}

/** Updates a collection's row. */
export async function updateCollection(query: Query, collection: Collection): Promise<void> {
  await query({
    text: `update system.collections set name = $2, fields = $3, view_query = $4, list_rule = $5, view_rule = $6,
      create_rule = $7, update_rule = $8, delete_rule = $9, history_enabled = $10, durability = $11, lacking = $12,
      indexes = $13, updated_at = $14 where id = $1`,
    values: [collection.id, collection.name, ...changeableValues(collection), collection.updatedAtSec],
  });
}

/** Deletes a collection's row. `planDrop` drops its table. */
export async function deleteCollectionRow(query: Query, id: string): Promise<void> {
  await query({ text: 'delete from system.collections where id = $1', values: [id] });
}

const changeableValues = ({
  fields,
  viewQuery,
  rules,
  historyEnabled,
  durability = 'full',
  lacking = [],
  indexes = [],
}: Collection): unknown[] => [
  JSON.stringify(fields),
  viewQuery,
  rules.list,
  rules.view,
  rules.create,
  rules.update,
  rules.delete,
  historyEnabled,
  durability,
  JSON.stringify(lacking),
  JSON.stringify(indexes),
];
