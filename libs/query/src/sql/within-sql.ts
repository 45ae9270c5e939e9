import type { ResolvedComparison, Source } from '../resolve/resolved.ts';
import type { Places } from './compare-sql.ts';
import { certain, nullable, type Predicate } from './predicate.ts';
import { readRequestValue } from './request-values.ts';
import { lowerSql, type SqlTarget } from './sql-target.ts';
import { valueSql } from './value-sql.ts';

/** Holds where an entry in the list has the text on the right. */
export function anyContains(comparison: ResolvedComparison, places: Places): Predicate {
  const item = places.left.parameters.alias();
  const list = valueSql(comparison.left, 'list', places.left);
  const found = within(`(${item}.item #>> '{}')`, comparison, places);
  return certain(`exists (select 1 from jsonb_path_query(${list}, '$[*]') ${item}(item) where ${found})`);
}

/** Holds where the text on the left has the text on the right. */
export const contains = (comparison: ResolvedComparison, places: Places): Predicate =>
  nullable(within(valueSql(comparison.left, 'text', places.left), comparison, places));

/**
 * Substring search that ignores case. A text that is the same for all rows becomes a LIKE pattern, which a trigram
 * index serves. A sub-select folds it once per statement; the bare call would run once per row. Without an index the
 * text is first searched unfolded: a match there saves the folding, which costs ten times as much.
 *
 * PostgreSQL does not see a pattern in a sub-select. It estimates all patterns alike, and so keeps one plan for them.
 * It would plan a visible one again at each run, which took longer than a list with 20 records itself. A search for a
 * part of a text reads its table's texts in either case. Where a path leads through relations, the pattern stays
 * visible, since the number of matches then decides which table is read first.
 */
function within(hay: string, { left, right: needle }: ResolvedComparison, places: Places): string {
  const folded = lowerSql(hay, places.left);
  const pattern = findPattern(needle, places.right);
  if (pattern === undefined)
    return `strpos(${folded}, ${lowerSql(valueSql(needle, 'text', places.right), places.right)}) > 0`;
  const found = `${folded} like (select ${lowerSql(pattern, places.right)})`;
  if (left.source === 'column' && left.isSearchable) return found;
  const isOfRow = left.source === 'column' && left.hops.length === 0;
  return `(${hay} like ${isOfRow ? `(select ${pattern})` : pattern} or ${found})`;
}

function findPattern(needle: Source, { parameters }: SqlTarget): string | undefined {
  if (needle.source === 'constant') return parameters.fixed(patternOf(needle.value), 'text');
  if (needle.source !== 'request') return undefined;
  const key = `pattern ${needle.part}.${needle.path.join('.')}`;
  return parameters.ofRequest(key, 'text', (request) => {
    const text = readRequestValue({ ...needle, kind: 'text' }, request);
    return text === null ? null : patternOf(text);
  });
}

/** `%` and `_` are plain characters in the language (filters §5.6). */
const patternOf = (text: unknown): string => `%${String(text).replace(/[\\%_]/g, '\\$&')}%`;
