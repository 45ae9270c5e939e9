import {
  type Collection,
  type CollectionIndex,
  columnsOfIndex,
  fieldOfSearch,
  isSearchIndex,
  isUnique,
  nameOfSearched,
  type SearchIndex,
} from '@recordbus/schema';
import type { IndexDefinition, ShownIndex } from './index-draft.ts';

/** Returns the indexes that admins created, as snapshots hold them. */
export const definitionsOfIndexes = (collection: Collection): IndexDefinition[] =>
  (collection.indexes ?? []).map((index) => definitionOfIndex(collection, index));

/** Returns an index with the names of its columns, or of its searched fields. */
export const definitionOfIndex = (collection: Collection, index: CollectionIndex): IndexDefinition => ({
  name: index.name,
  ...(!isSearchIndex(index) && { columns: columnsOfIndex(collection, index) }),
  unique: index.unique,
  type: index.type,
  ...(isSearchIndex(index) && searchMembersOf(collection, index)),
});

const searchMembersOf = (collection: Collection, { search }: SearchIndex) => ({
  fields: search.fields.map((field) => ({ field: nameOfSearched(collection, field), weight: field.weight })),
  language:
    typeof search.language === 'string'
      ? search.language
      : { field: fieldOfSearch(collection, search.language.field).name },
  prefix: search.prefix,
  typos: search.typos ?? false,
  synonyms: Object.fromEntries(Object.entries(search.synonyms).map(([word, words]) => [word, [...words]])),
});

/** Returns one of the indexes that admins created. */
export const presentIndex = (collection: Collection, index: CollectionIndex): ShownIndex => ({
  ...definitionOfIndex(collection, index),
  columns: columnsOfIndex(collection, index),
  ...(isSearchIndex(index) && { state: index.isBuilding ? 'building' : 'ready' }),
  system: false,
});

/** Returns a collection's indexes, system indexes first. */
export const presentIndexes = (collection: Collection): ShownIndex[] => [
  ...systemIndexes(collection),
  ...(collection.indexes ?? []).map((index) => presentIndex(collection, index)),
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
