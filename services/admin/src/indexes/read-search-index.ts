import { isHidden } from '@recordbus/query';
import {
  type Collection,
  type Field,
  findSearchIndex,
  type Problems,
  type SearchDefinition,
  type SearchedField,
  searchLanguages,
} from '@recordbus/schema';
import type { NewIndex } from './index-draft.ts';

/** How many fields a search index may have, and how many words with synonyms. */
const maxFields = 32;
const maxSynonyms = 1000;

/** The types with texts in which people search. */
const searchedTypes: ReadonlySet<string> = new Set(['text', 'editor', 'select', 'email', 'url', 'json']);

/** Reads what only a search index has, and its columns. Adds each problem at its place (search §1). */
export function readSearchIndex(
  collection: Collection,
  { unique, columns, fields = [], language = 'simple', prefix = true, typos = true, synonyms = {} }: NewIndex,
  problems: Problems,
): { readonly columns: readonly string[]; readonly search: SearchDefinition } {
  const other = findSearchIndex(collection);
  if (other) problems.add('type', `the collection has the search index "${other.name}"`);
  if (unique) problems.add('unique', 'is not for search indexes');
  if (columns !== undefined) problems.add('columns', 'is not for search indexes: name fields');
  if (fields.length === 0) problems.add('fields', 'must name at least one field');
  if (fields.length > maxFields) problems.add('fields', `must name at most ${maxFields} fields`);
  const searched = fields.flatMap((draft) => readSearched(collection, draft, problems));
  const names = searched.map(({ field, path }) => [field, ...path].join('.'));
  if (new Set(names).size < names.length) problems.add('fields', 'must name each field once');
  if (Object.keys(synonyms).length > maxSynonyms)
    problems.add('synonyms', `must have at most ${maxSynonyms} words with synonyms`);
  const read = readLanguage(collection, language, problems);
  const languageFields = typeof read === 'string' ? [] : [read.field];
  return {
    columns: [...new Set([...searched.map(({ field }) => field), ...languageFields])],
    search: { fields: searched, language: read, prefix, typos, synonyms: readSynonyms(synonyms) },
  };
}

function readSearched(
  collection: Collection,
  { field: name, weight }: NonNullable<NewIndex['fields']>[number],
  problems: Problems,
): SearchedField[] {
  const [first = '', ...path] = name.split('.');
  const field = collection.fields.find((one) => one.name === first);
  if (!field) problems.add('fields', `${collection.name} has no field "${first}"`);
  else if (path.length > 0 && field.type !== 'json') problems.add('fields', `"${first}" is not a JSON field`);
  else if (!searchedTypes.has(field.type))
    problems.add('fields', `a ${field.type} field cannot be searched: "${first}"`);
  else if (refuseHidden(field, 'fields', problems)) return [{ field: field.id, path, weight }];
  return [];
}

/** Adds a problem for a field that may be hidden from someone who sees the record. Returns whether there is none. */
function refuseHidden(field: Field, place: string, problems: Problems): boolean {
  if (isHidden(field)) problems.add(place, `"${field.name}" is encrypted and cannot be searched`);
  else if (field.viewRule != null) problems.add(place, `"${field.name}" has a view_rule and cannot be searched`);
  else return true;
  return false;
}

function readLanguage(
  collection: Collection,
  language: NonNullable<NewIndex['language']>,
  problems: Problems,
): SearchDefinition['language'] {
  if (typeof language === 'string') {
    if (!searchLanguages.includes(language)) problems.add('language', `must be one of ${searchLanguages.join(', ')}`);
    return language;
  }
  const field = collection.fields.find(({ name }) => name === language.field);
  if (field?.type !== 'select' || field.options.multiple) {
    problems.add('language', `"${language.field}" is not a select field with one value`);
    return 'simple';
  }
  refuseHidden(field, 'language', problems);
  return { field: field.id };
}

/** Words are compared in lower case. Empty lists say nothing. */
const readSynonyms = (synonyms: Readonly<Record<string, readonly string[]>>): SearchDefinition['synonyms'] =>
  Object.fromEntries(
    Object.entries(synonyms)
      .filter(([, words]) => words.length > 0)
      .map(([word, words]) => [word.trim().toLowerCase(), words.map((one) => one.trim())]),
  );
