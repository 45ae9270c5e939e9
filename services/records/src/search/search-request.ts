import { conflict, malformedParameter as refused } from '@recordbus/errors';
import {
  type Collection,
  findSearchIndex,
  nameOfSearched,
  type SearchedField,
  type SearchIndex,
} from '@recordbus/schema';
import { type ParsedSearch, parseSearch } from './parse-search.ts';

/** A search's query parameters (search §2.1). */
interface SearchParameters {
  readonly search?: string | undefined;
  readonly searchMode: 'all' | 'any';
  readonly searchFields?: string | undefined;
  readonly facets?: string | undefined;
  readonly highlight?: string | undefined;
}

/** A search in a collection. */
export interface Search {
  readonly index: SearchIndex;
  readonly parsed: ParsedSearch;
  readonly mode: 'all' | 'any';
  /** The fields to search; undefined for all of the index's. */
  readonly fields: readonly SearchedField[] | undefined;
  /** The fields whose values are counted, separated by commas. */
  readonly facets: string | undefined;
  /** The fields whose found words are marked. */
  readonly highlight: readonly SearchedField[] | undefined;
  /** Typos, each with the words that are searched instead. */
  readonly corrected?: Corrections;
}

/** By typo, the words that are searched instead of it. */
export type Corrections = Readonly<Record<string, readonly string[]>>;

/** A search's text: in code points, and in words. */
const maxCharacters = 300;
const maxWords = 10;

/** Control characters and halves of surrogate pairs separate words. */
const separators = /[\p{Cc}\p{Cs}]/gu;

/**
 * Reads a search's parameters; undefined without a text. Throws 400 for a collection without a search index, a text that is
 * too long and a field that is not searched, and 409 while the index is being built (search §2.5).
 */
export function readSearch(
  { search: given, searchMode: mode, searchFields, facets, highlight }: SearchParameters,
  collection: Collection,
): Search | undefined {
  if (given === undefined) return undefined;
  const index = findSearchIndex(collection);
  if (!index) throw refused('search', `${collection.name} has no search index`);
  if (given.length > 2 * maxCharacters || [...given].length > maxCharacters)
    throw refused('search', `must have at most ${maxCharacters} characters`);
  const parsed = parseSearch(given.replaceAll(separators, ' '), index.search.prefix);
  if (parsed.words > maxWords) throw refused('search', `must have at most ${maxWords} words`);
  const readFields = (parameter: string, names: string | undefined) =>
    names === undefined ? undefined : readNames(parameter, names, collection, index);
  const fields = readFields('searchFields', searchFields);
  const highlighted = readFields('highlight', highlight);
  if (index.isBuilding) throw conflict('index_building', `the search index ${index.name} is being built`);
  return { index, parsed, mode, fields, facets, highlight: highlighted };
}

function readNames(
  parameter: string,
  given: string,
  collection: Collection,
  index: SearchIndex,
): readonly SearchedField[] {
  return [...new Set(given.split(',').map((name) => name.trim()))].map((name) => {
    const field = index.search.fields.find((one) => nameOfSearched(collection, one) === name);
    if (!field) throw refused(parameter, `the search index of ${collection.name} has no field ${JSON.stringify(name)}`);
    return field;
  });
}
