import { historyTableOf, planHistoryTable } from '@recordbus/journal';
import {
  accountColumns,
  type Collection,
  holdsRelations,
  orderIndexName,
  primaryKeyName,
  quoteIdentifier,
  tableOf,
} from '@recordbus/schema';
import { columnDefinition, planConstraints } from './columns.ts';
import { planFileTriggers, planRemoveAllFiles } from './file-triggers.ts';
import { planDropLinkFunction, planLinkTriggers } from './link-triggers.ts';
import { planDropLinks } from './links.ts';
import { planDropAllWords } from './search-tables.ts';

/** Plans a new collection's table with its indexes, constraints, triggers and history. */
export const planCreate = (collection: Collection): string[] => [
  ...planTable(collection),
  ...planTableParts(collection),
];

/** Plans only a new collection's table, because its relations may refer to tables that do not exist yet. */
export const planTable = (collection: Collection): string[] => [
  `create table ${tableOf(collection)} (${planColumns(collection).join(', ')})`,
  `create index ${quoteIdentifier(orderIndexName(collection))} on ${tableOf(collection)} (created_at desc, id desc)`,
];

/** Plans a table's columns. */
export function planColumns(collection: Collection): string[] {
  return [
    `id text collate "C" constraint ${quoteIdentifier(primaryKeyName(collection))} primary key`,
    'created_at bigint not null',
    'updated_at bigint not null',
    ...(collection.type === 'auth' ? accountColumns.map(({ name, definition }) => `${name} ${definition}`) : []),
    ...collection.fields.map(columnDefinition),
    '_revision integer not null default 0',
  ];
}

/** Plans a new table's constraints, indexes and triggers. The targets of its relations must exist. */
export function planTableParts(collection: Collection): string[] {
  const table = tableOf(collection);
  return [
    ...collection.fields.flatMap((field) => planConstraints(collection, field)),
    ...(collection.type === 'auth' ? planAccountTriggers(table) : []),
    ...planFileTriggers(collection),
    ...planLinkTriggers(collection),
    ...(collection.historyEnabled ? [planHistoryTable(collection)] : []),
  ];
}

/**
 * Triggers that end a changed or deleted account's tokens and sessions, notify every gateway, and queue the mail to the
 * holder. As triggers they work for every writer (schema.sql).
 */
const planAccountTriggers = (table: string): string[] => [
  `create trigger account_changed after update on ${table} for each row
   when ((old.token_version, old.email, old.verified, old.is_anonymous)
     is distinct from (new.token_version, new.email, new.verified, new.is_anonymous))
   execute function system.account_changed()`,
  `create trigger accounts_deleted after delete on ${table} referencing old table as gone
   for each statement execute function system.accounts_deleted()`,
];

/**
 * Plans how a collection's table, links, history and files are dropped. No other collection's relation may refer to it.
 */
export const planDrop = (collection: Collection): string[] => [
  ...collection.fields.filter(holdsRelations).map((field) => planDropLinks(collection, field)),
  ...planDropTable(collection),
];

/** Plans the drop of a table whose links are already dropped. */
export const planDropTable = (collection: Collection): string[] => [
  `drop table ${tableOf(collection)}`,
  ...(collection.fields.some(holdsRelations) ? [planDropLinkFunction(collection)] : []),
  ...planDropAllWords(collection),
  `drop table if exists ${historyTableOf(collection)}`,
  planRemoveAllFiles(collection),
];
