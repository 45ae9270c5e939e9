import { historyTableOf, planHistoryTable } from '@recordbus/journal';
import { type Collection, orderIndexName, primaryKeyName, quoteIdentifier, tableOf } from '@recordbus/schema';
import { columnDefinition, planBesideColumn } from './columns.ts';

/** Makes the table of a new collection with everything that hangs on it. */
export function planCreate(collection: Collection): string[] {
  const table = tableOf(collection);
  const columns = [
    `id text collate "C" constraint ${quoteIdentifier(primaryKeyName(collection))} primary key`,
    'created_at bigint not null',
    'updated_at bigint not null',
    ...collection.fields.map(columnDefinition),
  ];
  return [
    `create table ${table} (${columns.join(', ')})`,
    `create index ${quoteIdentifier(orderIndexName(collection))} on ${table} (created_at desc, id desc)`,
    ...collection.fields.flatMap((field) => planBesideColumn(collection, field)),
    ...(collection.historyEnabled ? [planHistoryTable(collection)] : []),
  ];
}

/** Drops the table of a collection to which no relation leads any more, and its history. */
export const planDrop = (collection: Collection): string[] => [
  `drop table ${tableOf(collection)}`,
  `drop table if exists ${historyTableOf(collection)}`,
];
