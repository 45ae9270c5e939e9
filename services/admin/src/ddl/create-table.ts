import { historyTableOf, planHistoryTable } from '@recordbus/journal';
import {
  accountColumns,
  type Collection,
  orderIndexName,
  primaryKeyName,
  quoteIdentifier,
  tableOf,
} from '@recordbus/schema';
import { columnDefinition, planBesideColumn } from './columns.ts';
import { planFilesOfCollection, planFileTriggers } from './file-triggers.ts';

/** Makes the table of a new collection with everything that hangs on it. */
export function planCreate(collection: Collection): string[] {
  const table = tableOf(collection);
  const columns = [
    `id text collate "C" constraint ${quoteIdentifier(primaryKeyName(collection))} primary key`,
    'created_at bigint not null',
    'updated_at bigint not null',
    ...(collection.type === 'auth' ? accountColumns.map(({ name, definition }) => `${name} ${definition}`) : []),
    ...collection.fields.map(columnDefinition),
  ];
  return [
    `create table ${table} (${columns.join(', ')})`,
    `create index ${quoteIdentifier(orderIndexName(collection))} on ${table} (created_at desc, id desc)`,
    ...collection.fields.flatMap((field) => planBesideColumn(collection, field)),
    ...(collection.type === 'auth' ? planAccountTriggers(table) : []),
    ...planFileTriggers(collection),
    ...(collection.historyEnabled ? [planHistoryTable(collection)] : []),
  ];
}

/**
 * Whatever changes or deletes an account ends its tokens and sessions with it, and every gateway learns of it: no
 * writer can forget to (migration 0010).
 */
const planAccountTriggers = (table: string): string[] => [
  `create trigger account_changed after update on ${table} for each row
   when ((old.token_version, old.email, old.is_anonymous) is distinct from (new.token_version, new.email, new.is_anonymous))
   execute function system.account_changed()`,
  `create trigger accounts_deleted after delete on ${table} referencing old table as gone
   for each statement execute function system.accounts_deleted()`,
];

/** Drops the table of a collection to which no relation leads any more, its history and its files. */
export const planDrop = (collection: Collection): string[] => [
  `drop table ${tableOf(collection)}`,
  `drop table if exists ${historyTableOf(collection)}`,
  planFilesOfCollection(collection),
];
