import type { Collection, CollectionIndex } from '../collection.ts';
import type { Field } from '../field.ts';

/** What a search index searches, and how (search §1). */
export interface SearchDefinition {
  readonly fields: readonly SearchedField[];
  /** A PostgreSQL configuration, `cjk`, or the id for the field with each record's language. */
  readonly language: string | { readonly field: string };
  /** Whether a search's last word is a prefix. */
  readonly prefix: boolean;
  /** Whether a word that is not found is taken for a typo. Indexes from before typos lack it. */
  readonly typos?: boolean;
  /** Other words that a word finds, by the word. */
  readonly synonyms: Readonly<Record<string, readonly string[]>>;
}

/** A field, or a value in a JSON field, that a search index searches. */
export interface SearchedField {
  /** The field's id. */
  readonly field: string;
  /** The path into a JSON field; empty for the whole value. */
  readonly path: readonly string[];
  /** How much a word in it counts: `A` most, `D` least. */
  readonly weight: SearchWeight;
}

export const searchWeights = ['A', 'B', 'C', 'D'] as const;
export type SearchWeight = (typeof searchWeights)[number];

/** A collection's search index, with its definition. */
export interface SearchIndex extends CollectionIndex {
  readonly search: SearchDefinition;
}

/** Whether the index is a search index. */
export const isSearchIndex = (index: CollectionIndex): index is SearchIndex => index.search !== undefined;

/** Finds the collection's search index. */
export const findSearchIndex = ({ indexes }: Pick<Collection, 'indexes'>): SearchIndex | undefined =>
  indexes?.find(isSearchIndex);

/** Returns a search index's field in its collection. */
export function fieldOfSearch({ name, fields }: Collection, id: string): Field {
  const field = fields.find((one) => one.id === id);
  if (!field) throw new Error(`the search index of ${name} names a field that is missing`);
  return field;
}

/** A searched field as definitions name it: `title`, `meta.subtitle`. */
export const nameOfSearched = (collection: Collection, { field, path }: SearchedField): string =>
  [fieldOfSearch(collection, field).name, ...path].join('.');
