import type { Collection } from '../collection.ts';
import { quoteIdentifier, quoteLiteral } from '../naming.ts';
import { fieldOfSearch, type SearchedField, type SearchIndex } from './search-index.ts';
import { languagesByValue } from './search-languages.ts';

type Named = Pick<Collection, 'id'>;

/** The table with the words that a search index finds. */
export const searchTableOf = ({ id }: Named, index: Pick<SearchIndex, 'id'>): string =>
  `search.${quoteIdentifier(`${id.replaceAll('-', '')}:${index.id}`)}`;

/** The index on that table by words. */
export const wordsIndexOf = ({ id }: Named, index: Pick<SearchIndex, 'id'>): string =>
  `search.${quoteIdentifier(`words:${id.replaceAll('-', '')}:${index.id}`)}`;

/** The table with the words that a typo may stand for: whole, as texts have them. */
export const knownWordsTableOf = ({ id }: Named, index: Pick<SearchIndex, 'id'>): string =>
  `search.${quoteIdentifier(`${id.replaceAll('-', '')}:${index.id}:known`)}`;

/** The table with ids: these records' words are to be added to the known ones. */
export const newWordsTableOf = ({ id }: Named, index: Pick<SearchIndex, 'id'>): string =>
  `search.${quoteIdentifier(`${id.replaceAll('-', '')}:${index.id}:new`)}`;

/** Whether each record has its own language, which the table then holds. */
export const hasOwnLanguages = ({ search: { language } }: SearchIndex): boolean => typeof language !== 'string';

/** A row's language, as SQL. */
export function languageSql(collection: Collection, { search: { language } }: SearchIndex, row: string): string {
  if (typeof language === 'string') return quoteLiteral(language);
  const field = fieldOfSearch(collection, language.field);
  const cases = languagesByValue(field).map(
    (one) => `when ${quoteLiteral(one.value)} then ${quoteLiteral(one.language)}`,
  );
  const column = `${row}.${quoteIdentifier(field.name)}`;
  return cases.length === 0 ? "'simple'" : `case ${column} ${cases.join(' ')} else 'simple' end`;
}

/**
 * The words in a row's searched fields (tsvector), as SQL; by default in all the index's fields, and in the row's
 * language.
 */
export function documentSql(
  collection: Collection,
  index: SearchIndex,
  row: string,
  fields: readonly SearchedField[] = index.search.fields,
  language = languageSql(collection, index, row),
): string {
  const weights = fields.map(({ weight }) => quoteLiteral(weight));
  const texts = fields.map((field) => searchedText(collection, field, row));
  return `system.search_document(${language}, array[${weights.join(', ')}], array[${texts.join(', ')}]::text[])`;
}

/** The columns that decide a record's words, quoted. */
export function searchedColumns(collection: Collection, index: SearchIndex): readonly string[] {
  return index.columns.map((id) => quoteIdentifier(fieldOfSearch(collection, id).name));
}

/** A searched field's text in a row, as SQL. */
export function searchedText(collection: Collection, { field: id, path }: SearchedField, row: string): string {
  const field = fieldOfSearch(collection, id);
  const column = `${row}.${quoteIdentifier(field.name)}`;
  if (field.type === 'json') {
    const value = path.length === 0 ? column : `${column} #> array[${path.map(quoteLiteral).join(', ')}]`;
    return `system.search_json_text(${value})`;
  }
  if (!field.options.multiple) return column;
  return `(select string_agg(e, ' ') from jsonb_array_elements_text(${column}) e)`;
}
