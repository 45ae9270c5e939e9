import type { Parameters } from '@recordbus/query';
import { quoteLiteral, type SearchDefinition } from '@recordbus/schema';
import type { ParsedSearch, SearchTerm } from './parse-search.ts';

/** A search in one language, as SQL of the type tsquery. It is empty if the text has only stop words. */
export interface TsQuery {
  readonly whole: string;
  /** Without the unwanted words. */
  readonly wanted: string;
}

interface Place {
  readonly language: string;
  readonly synonyms: SearchDefinition['synonyms'];
  readonly parameters: Pick<Parameters, 'fixed'>;
}

/** Composes a search in one language. PostgreSQL refuses none of these texts. */
export function tsQuerySql({ wanted, unwanted }: ParsedSearch, mode: 'all' | 'any', place: Place): TsQuery {
  const groups = wanted.map((terms) =>
    joined(
      terms.map((term) => wantedSql(term, place)),
      '||',
    ),
  );
  const positive = groups.length === 0 ? "''::tsquery" : joined(groups, mode === 'any' ? '||' : '&&');
  const negative = unwanted.map((term) => `!!(${termSql(term, place)})`);
  return { wanted: positive, whole: joined([positive, ...negative], '&&') };
}

/** Composes a query that holds for each single word, in any order and alone, and for their synonyms. */
export function anyWordSql({ wanted }: ParsedSearch, place: Place): string {
  const terms = wanted.flat().map((term) => wantedSql({ ...term, text: term.text.replaceAll('-', ' ') }, place));
  // Between words there are only these operators. Within a word one does no harm.
  const text = joined(terms.length === 0 ? ["''::tsquery"] : terms, '||');
  return `regexp_replace((${text})::text, '&|<->|<\\d+>', '|', 'g')::tsquery`;
}

const joined = (parts: readonly string[], by: '||' | '&&'): string =>
  parts.length === 1 ? String(parts[0]) : `(${parts.join(` ${by} `)})`;

/** A word with its synonyms. */
function wantedSql(term: SearchTerm, place: Place): string {
  const own = termSql(term, place);
  const word = term.text.toLowerCase();
  const others = !term.isPhrase && Object.hasOwn(place.synonyms, word) ? place.synonyms[word] : undefined;
  return joined([own, ...(others ?? []).map((text) => phraseSql(text, place))], '||');
}

function termSql(term: SearchTerm, place: Place): string {
  if (term.isPhrase || (place.language === 'cjk' && !term.isPrefix)) return phraseSql(term.text, place);
  if (term.isPrefix) return prefixSql(term.text, place);
  const word = `plainto_tsquery(${configOf(place)}, ${foldedSql(term.text, place)})`;
  // In `sea-side` the records' words are `sea-side`, `sea` and `side`; in `sea side` the last two.
  return term.text.includes('-') ? joined([word, phraseSql(term.text.replaceAll('-', ' '), place)], '||') : word;
}

const phraseSql = (text: string, place: Place): string =>
  `phraseto_tsquery(${configOf(place)}, ${foldedSql(text, place)})`;

/** In a script without spaces every letter is a word, so no word is incomplete. */
function prefixSql(text: string, place: Place): string {
  if (place.language === 'cjk' && /[^\p{Script=Latin}\p{N}]/u.test(text)) return phraseSql(text, place);
  const quoted = `'''' || replace(replace(${foldedSql(text, place)}, '\\', '\\\\'), '''', '''''') || ''':*'`;
  return `to_tsquery(${configOf(place)}, ${quoted})`;
}

/** PostgreSQL refuses words with more than 2,046 bytes. */
const maxFolded = 500;

function foldedSql(text: string, { language, parameters }: Place): string {
  const folded = `left(system.fold_search_text(${parameters.fixed(text, 'text')}), ${maxFolded})`;
  return language === 'cjk' ? `system.space_cjk(${folded})` : folded;
}

const configOf = ({ language }: Place): string =>
  `${quoteLiteral(`pg_catalog.${language === 'cjk' ? 'simple' : language}`)}::regconfig`;
