import type { Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';

/** Inserts a new collection's row. */
export async function insertCollection(query: Query, collection: Collection): Promise<void> {
  await query({
    text: `insert into system.collections (id, name, type, fields, view_query, list_rule, view_rule, create_rule,
      update_rule, delete_rule, sign_in_rule, webhook_rule, history_enabled, durability, lacking, indexes, alias, fresh_s,
      retain, history_keep, created_at, updated_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)`,
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
      create_rule = $7, update_rule = $8, delete_rule = $9, sign_in_rule = $10, webhook_rule = $11,
      history_enabled = $12, durability = $13, lacking = $14, indexes = $15, alias = $16, fresh_s = $17, retain = $18,
      history_keep = $19, updated_at = $20 where id = $1`,
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
  alias,
  freshSec,
  retain,
  historyKeep,
}: Collection): unknown[] => [
  JSON.stringify(fields),
  viewQuery,
  rules.list,
  rules.view,
  rules.create,
  rules.update,
  rules.delete,
  rules.sign_in ?? null,
  rules.webhook ?? null,
  historyEnabled,
  durability,
  JSON.stringify(lacking),
  JSON.stringify(indexes),
  alias ?? null,
  freshSec ?? null,
  retain ? JSON.stringify(retain) : null,
  historyKeep ? JSON.stringify(historyKeep) : null,
];
