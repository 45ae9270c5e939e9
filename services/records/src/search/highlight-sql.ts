import type { Parameters } from '@recordbus/query';
import {
  type Collection,
  fieldOfSearch,
  hasOwnLanguages,
  languagesOf,
  nameOfSearched,
  quoteLiteral,
  type SearchedField,
  searchedText,
} from '@recordbus/schema';
import type { Search } from './search-request.ts';
import { anyWordSql } from './tsquery-sql.ts';

/**
 * Composes the member `_highlight` of the record `t`, whose words are `s`: each field's text with its found words in marks, as
 * HTML. A field without any is left out (search §5).
 */
export function highlightSql(
  collection: Collection,
  { index, parsed }: Search,
  fields: readonly SearchedField[],
  parameters: Pick<Parameters, 'fixed'>,
): string {
  const { synonyms } = index.search;
  const [first, ...others] = languagesOf(collection, index).map((language) => ({
    language: quoteLiteral(language),
    words: anyWordSql(parsed, { language, synonyms, parameters }),
  }));
  if (!first) throw new Error('a search index has no language');
  const isFixed = !hasOwnLanguages(index);
  const language = isFixed ? first.language : 's.language';
  const cases = [first, ...others].map((one) => `when ${one.language} then ${one.words}`);
  const words = isFixed ? first.words : `case s.language ${cases.join(' ')} end`;
  const members = fields.map((field) => {
    const isHtml = fieldOfSearch(collection, field.field).type === 'editor';
    const text = `system.search_highlight(${language}, ${searchedText(collection, field, 't')}, ${isHtml}, ${words})`;
    return `${quoteLiteral(`${JSON.stringify(nameOfSearched(collection, field))}:`)} || to_json(${text})::text`;
  });
  return `'{' || concat_ws(',', ${members.join(', ')}) || '}'`;
}
