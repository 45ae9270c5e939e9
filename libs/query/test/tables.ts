import { type Collection, fieldTypeOf, linkTableOf, quoteIdentifier, tableOf } from '@recordbus/schema';
import type { Item, World } from './world.ts';

/** The statements that replace the tables, without foreign keys. */
export const describeTables = (collections: World['collections']): string[] => [
  'drop schema if exists records cascade',
  'drop schema if exists links cascade',
  'create schema records',
  'create schema links',
  ...Object.values(collections).flatMap(describeTable),
];

function describeTable(collection: Collection): string[] {
  // Texts are in code point order, whatever the database's locale.
  const columns = collection.fields.map(
    (field) =>
      `${quoteIdentifier(field.name)} ${fieldTypeOf(field)
        .columnType(field)
        .replace(/^text$/, 'text collate "C"')}, `,
  );
  const account = collection.type === 'auth' ? 'email text collate "C", verified boolean, is_anonymous boolean, ' : '';
  return [
    `create table ${tableOf(collection)} (id text collate "C" primary key, ${columns.join('')}${account}created_at bigint not null, updated_at bigint not null)`,
    ...listsOf(collection).map((field) => `create table ${linkTableOf(collection, field)} (owner text, target text)`),
  ];
}

/** The relations to several records that have link tables. */
const listsOf = ({ type, fields }: Collection) =>
  type === 'view' ? [] : fields.filter((field) => field.type === 'relation' && field.options.multiple);

/** The statements that fill the link tables from a table's columns. */
export const describeLinks = (collection: Collection): string[] =>
  listsOf(collection).flatMap((field) => [
    `delete from ${linkTableOf(collection, field)}`,
    `insert into ${linkTableOf(collection, field)} select t.id, e.target from ${tableOf(collection)} t
      cross join jsonb_array_elements_text(t.${quoteIdentifier(field.name)}) e(target)`,
  ]);

/** The statement that fills a table, and its one value. */
export function describeRows(collection: Collection, items: readonly Item[]): { text: string; values: unknown[] } {
  const rows = items.map(({ created, updated, anonymous, ...rest }) => ({
    ...rest,
    created_at: created,
    updated_at: updated,
    is_anonymous: anonymous,
  }));
  return {
    text: `insert into ${tableOf(collection)} select * from json_populate_recordset(null::${tableOf(collection)}, $1)`,
    values: [JSON.stringify(rows)],
  };
}
