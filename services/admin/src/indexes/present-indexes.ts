import { type Collection, columnsOfIndex, isUnique } from '@recordbus/schema';
import type { IndexDefinition, ShownIndex } from './index-draft.ts';

/** Returns the indexes that admins created, with column names. */
export const definitionsOfIndexes = (collection: Collection): IndexDefinition[] =>
  (collection.indexes ?? []).map((index) => ({
    name: index.name,
    columns: columnsOfIndex(collection, index),
    unique: index.unique,
    type: index.type,
  }));

/** Returns a collection's indexes, system indexes first. */
export const presentIndexes = (collection: Collection): ShownIndex[] => [
  ...systemIndexes(collection),
  ...definitionsOfIndexes(collection).map((index) => ({ ...index, columns: [...index.columns], system: false })),
];

/** Returns the indexes that come with the table and its fields. Their names are not valid for other indexes. */
export function systemIndexes({ type, fields }: Collection): ShownIndex[] {
  if (type === 'view') return [];
  const system = (name: string, columns: string[], unique: boolean): ShownIndex => ({
    name: `system:${name}`,
    columns,
    unique,
    type: 'btree',
    system: true,
  });
  return [
    system('id', ['id'], true),
    system('created', ['created_at', 'id'], false),
    ...fields
      .filter((field) => isUnique(field) || field.collection !== undefined)
      .map((field) => system(field.name, [field.name], isUnique(field))),
  ];
}
