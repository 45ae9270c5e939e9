import { type Collection, columnsOfIndex } from '@recordbus/schema';
import { isUnique } from '../ddl/columns.ts';
import type { IndexDefinition, ShownIndex } from './index-draft.ts';

/** The indexes that an admin asked for, their columns by name. */
export const definitionsOfIndexes = (collection: Collection): IndexDefinition[] =>
  (collection.indexes ?? []).map((index) => ({
    name: index.name,
    columns: columnsOfIndex(collection, index),
    unique: index.unique,
    type: index.type,
  }));

/** Every index of a collection: those that the system needs first. */
export const presentIndexes = (collection: Collection): ShownIndex[] => [
  ...systemIndexes(collection),
  ...definitionsOfIndexes(collection).map((index) => ({ ...index, columns: [...index.columns], system: false })),
];

/** The indexes that come with the table and its fields. No index of an admin's can have such a name. */
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
