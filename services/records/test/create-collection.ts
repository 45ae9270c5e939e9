import type { Database } from '@recordbus/database';
import { planHistoryTable } from '@recordbus/journal';
import {
  accountColumns,
  type Collection,
  comparedValue,
  fieldTypeOf,
  foreignKeyName,
  hasComparableValue,
  holdsRelations,
  orderIndexName,
  quoteIdentifier,
  relationIndexName,
  tableOf,
  uniqueIndexName,
} from '@recordbus/schema';

/** Creates the table or view of a collection and its row in the list of collections, as the admin service does. */
export async function createCollection(database: Database, collection: Collection): Promise<void> {
  await database.transaction(async (query) => {
    for (const text of describeTable(collection)) await query({ text, values: [] });
    await query({
      text: `insert into system.collections (id, name, type, fields, list_rule, view_rule, create_rule, update_rule,
        delete_rule, history_enabled, view_query, created_at, updated_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 0, 0)`,
      values: [
        collection.id,
        collection.name,
        collection.type,
        JSON.stringify(collection.fields),
        ...(['list', 'view', 'create', 'update', 'delete'] as const).map((name) => collection.rules[name]),
        collection.historyEnabled,
        collection.viewQuery,
      ],
    });
    await query({ text: "update system.versions set version = version + 1 where name = 'schema'", values: [] });
  });
}

function describeTable(collection: Collection): string[] {
  const table = tableOf(collection);
  if (collection.viewQuery !== null) return [`create view ${table} as ${collection.viewQuery}`];
  const columns = [
    ...(collection.type === 'auth' ? accountColumns.map(({ name, definition }) => `, ${name} ${definition}`) : []),
    ...collection.fields.map((field) => `, ${quoteIdentifier(field.name)} ${fieldTypeOf(field).columnType(field)}`),
  ];
  const constraints = collection.fields.flatMap((field) => {
    const column = quoteIdentifier(field.name);
    const unique = `create unique index ${quoteIdentifier(uniqueIndexName(collection, field))} on ${table} (${comparedValue(field)}) where ${hasComparableValue(field)}`;
    // Without links, which only deletes and filters read.
    const target = field.collection === undefined || holdsRelations(field) ? '' : tableOf({ name: field.collection });
    return [
      ...(field.options.unique ? [unique] : []),
      ...(target
        ? [
            `create index ${quoteIdentifier(relationIndexName(collection, field))} on ${table} (${column})`,
            `alter table ${table} add constraint ${quoteIdentifier(foreignKeyName(collection, field))}
              foreign key (${column}) references ${target} (id)`,
          ]
        : []),
    ];
  });
  return [
    `create table ${table} (id text collate "C" primary key${columns.join('')}, created_at bigint not null, updated_at bigint not null)`,
    `create index ${quoteIdentifier(orderIndexName(collection))} on ${table} (created_at desc, id desc)`,
    ...constraints,
    ...(collection.historyEnabled ? [planHistoryTable(collection)] : []),
  ];
}
