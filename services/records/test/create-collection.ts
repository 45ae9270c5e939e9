import type { Database } from '@recordbus/database';
import { planHistoryTable } from '@recordbus/journal';
import {
  accountColumns,
  type Collection,
  comparedValue,
  type Field,
  fieldTypeOf,
  foreignKeyName,
  hasComparableValue,
  holdsRelations,
  linkTableOf,
  orderIndexName,
  quoteIdentifier,
  relationIndexName,
  tableOf,
  uniqueIndexName,
} from '@recordbus/schema';

interface CreateOptions {
  /** Whether relations have foreign keys, which need their targets first; true by default. */
  readonly hasKeys?: boolean;
}

/** Creates a collection's table or view and its row in the collection list, as the admin service does. */
export async function createCollection(
  database: Database,
  collection: Collection,
  { hasKeys = true }: CreateOptions = {},
): Promise<void> {
  await database.transaction(async (query) => {
    for (const text of describeTable(collection, hasKeys)) await query({ text, values: [] });
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

function describeTable(collection: Collection, hasKeys: boolean): string[] {
  const table = tableOf(collection);
  if (collection.viewQuery !== null) return [`create view ${table} as ${collection.viewQuery}`];
  const columns = [
    ...(collection.type === 'auth' ? accountColumns.map(({ name, definition }) => `, ${name} ${definition}`) : []),
    ...collection.fields.map((field) => `, ${quoteIdentifier(field.name)} ${fieldTypeOf(field).columnType(field)}`),
  ];
  const constraints = collection.fields.flatMap((field) => {
    const unique = `create unique index ${quoteIdentifier(uniqueIndexName(collection, field))} on ${table} (${comparedValue(field)}) where ${hasComparableValue(field)}`;
    const column = quoteIdentifier(field.name);
    if (holdsRelations(field)) return [describeLinks(collection, field)];
    const target = field.collection === undefined || !hasKeys ? '' : tableOf({ name: field.collection });
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

/** The links for a relation to several records: a view, since only statements that read use them. */
const describeLinks = (collection: Collection, field: Field): string =>
  `create view ${linkTableOf(collection, field)} as select t.id as owner, e.target
    from ${tableOf(collection)} t cross join jsonb_array_elements_text(t.${quoteIdentifier(field.name)}) e(target)`;
