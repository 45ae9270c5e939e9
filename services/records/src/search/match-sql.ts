import type { Parameters } from '@recordbus/query';
import {
  type Collection,
  documentSql,
  hasOwnLanguages,
  languagesOf,
  quoteLiteral,
  type SearchedField,
  searchTableOf,
  tableOf,
} from '@recordbus/schema';
import type { Search } from './search-request.ts';
import { type TsQuery, tsQuerySql } from './tsquery-sql.ts';

/** A search on the rows `s` of its index's table, as SQL. */
export interface MatchSql {
  /** Holds for the records that the search finds. */
  readonly condition: string;
  /** The same, but a text with nothing but stop words finds no record. */
  readonly hasWords: string;
  /** How well a record fits, from 0 to 1. */
  readonly score: string;
  /** Whether it reads the record `t` too. */
  readonly readsRecord: boolean;
}

/** A record's rank grows with its words' weights and shrinks with its length; then it is scaled to below 1. */
const normalization = 1 | 32;

/** Compiles a search. A text with nothing but stop words finds every record. */
export function compileMatch(
  collection: Collection,
  { index, parsed, mode, fields }: Search,
  parameters: Pick<Parameters, 'fixed'>,
): MatchSql {
  const { synonyms } = index.search;
  const queries = languagesOf(collection, index).map((language) => ({
    language,
    query: tsQuerySql(parsed, mode, { language, synonyms, parameters }),
  }));
  const searched = fields && searchedWords(collection, index, fields);
  const words = searched?.sql ?? 's.document';
  const matches = ({ whole, wanted }: TsQuery) => {
    if (!searched) return `s.document @@ ${whole}`;
    // The index finds the wanted words in all fields. Without any, every record may have none of the unwanted ones.
    return `(numnode(${wanted}) = 0 or s.document @@ ${wanted}) and ${words} @@ ${whole}`;
  };
  const readsRecord = searched?.readsRecord ?? false;
  const isEmpty = queries.map(({ query }) => `numnode(${query.whole}) = 0`).join(' and ');
  if (!hasOwnLanguages(index)) {
    const [only] = queries;
    if (!only) throw new Error('a search index has no language');
    const hasWords = matches(only.query);
    return { condition: `(${isEmpty} or ${hasWords})`, hasWords, score: rank(words, only.query), readsRecord };
  }
  const each = queries.map(({ language, query }) => `s.language = ${quoteLiteral(language)} and ${matches(query)}`);
  const hasWords = `(${each.join(' or ')})`;
  const ranks = queries.map(({ language, query }) => `when ${quoteLiteral(language)} then ${rank(words, query)}`);
  return {
    condition: `(${isEmpty} or ${hasWords})`,
    hasWords,
    score: `case s.language ${ranks.join(' ')} else 0 end`,
    readsRecord,
  };
}

/** The matches `s` that a condition on the records `t` admits too, as SQL. */
export function matchesFrom(
  collection: Collection,
  { index }: Pick<Search, 'index'>,
  { condition, readsRecord }: Pick<MatchSql, 'condition' | 'readsRecord'>,
  admitted: string | undefined,
): string {
  // Every record has its words, so the records themselves are read only for a rule or a filter.
  const readsRecords = readsRecord || admitted !== undefined;
  return `from ${searchTableOf(collection, index)} s${readsRecords ? ` join ${tableOf(collection)} t on t.id = s.id` : ''}
  where ${condition}${admitted === undefined ? '' : ` and ${admitted}`}`;
}

const rank = (words: string, { whole }: TsQuery): string => `ts_rank(${words}, ${whole}, ${normalization})`;

/**
 * The words in some fields (tsvector). If no other field has their weights, these select the words; otherwise they are
 * read from the record.
 */
function searchedWords(
  collection: Collection,
  index: Search['index'],
  fields: readonly SearchedField[],
): { readonly sql: string; readonly readsRecord: boolean } {
  const weights = [...new Set(fields.map(({ weight }) => weight))];
  const others = index.search.fields.filter((field) => !fields.includes(field));
  if (others.some(({ weight }) => weights.includes(weight)))
    return { sql: documentSql(collection, index, 't', fields), readsRecord: true };
  return { sql: `ts_filter(s.document, ${quoteLiteral(`{${weights.join(',')}}`)})`, readsRecord: false };
}
