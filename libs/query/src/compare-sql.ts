import { existsThrough } from './hops.ts';
import { canBeNull, isNull, isOfCaller, isSignedIn } from './null-sql.ts';
import type { Place } from './place.ts';
import { lowerSql } from './place.ts';
import { and, certain, not, nullable, or, type Predicate } from './predicate.ts';
import { readRequestValue } from './request-values.ts';
import type { ResolvedComparison, Source } from './resolved.ts';
import { valueSql } from './value-sql.ts';

/** A comparison in SQL: true, or else false or null. `!=` and `!~` hold wherever `=` and `~` do not, null included. */
export function compareSql(comparison: ResolvedComparison, place: Place): Predicate {
  const { operator, left, right } = comparison;
  switch (operator) {
    case '=':
      return equal(comparison, place);
    case '!=':
      return forSignedIn([left, right], place, differ(comparison, place));
    case '!~':
      return forSignedIn([left, right], place, not(strict({ ...comparison, operator: '~' }, place)));
    default:
      return strict(comparison, place);
  }
}

function equal(comparison: ResolvedComparison, place: Place): Predicate {
  const same = strict({ ...comparison, operator: '=' }, place);
  const { left, right } = comparison;
  return canBeNull(left) && canBeNull(right) ? or(same, and(isNull(left, place), isNull(right, place))) : same;
}

function differ(comparison: ResolvedComparison, place: Place): Predicate {
  const { left, right, as } = comparison;
  if (as === 'list' || !isPlain(left) || !isPlain(right)) return not(equal(comparison, place));
  return certain(pair(comparison, place, 'is distinct from'));
}

/** Does SQL's own null stand for no value here, with no relation to follow? */
const isPlain = (source: Source): boolean =>
  source.source === 'column' ? source.hops.length === 0 : source.source !== 'request' || source.part === 'auth';

function forSignedIn(sides: readonly Source[], place: Place, predicate: Predicate): Predicate {
  return sides.filter(isOfCaller).reduce((found, side) => and(isSignedIn(side, place), found), predicate);
}

/** Holds where both sides have a value and the operator holds. Follows relations, one side after the other. */
function strict(comparison: ResolvedComparison, place: Place, rows = { left: place.row, right: place.row }): Predicate {
  for (const side of ['left', 'right'] as const) {
    const source = comparison[side];
    if (source.source !== 'column' || source.hops.length === 0) continue;
    const arrived = { ...comparison, [side]: { ...source, hops: [] } };
    return existsThrough(source.hops, rows[side], place, (row) => strict(arrived, place, { ...rows, [side]: row }).sql);
  }
  return strictHere(comparison, { ...place, row: rows.left }, { ...place, row: rows.right });
}

function strictHere(comparison: ResolvedComparison, left: Place, right: Place): Predicate {
  const { operator, as } = comparison;
  if (operator === '~') return as === 'list' ? anyContains(comparison, left, right) : contains(comparison, left, right);
  if (as === 'list') {
    const list = valueSql(comparison.left, 'list', left);
    return nullable(`${list} ? ${valueSql(comparison.right, 'text', right)}`);
  }
  if (as === 'json' && operator !== '=') return jsonOrder(comparison, left, right);
  return nullable(pair(comparison, left, operator, right));
}

/** Both sides with an operator between them. */
const pair = ({ left, right, as }: ResolvedComparison, place: Place, operator: string, rightPlace = place): string =>
  `${valueSql(left, as, place)} ${operator} ${valueSql(right, as, rightPlace)}`;

/** Only numbers with numbers, strings with strings and booleans with booleans: PostgreSQL orders the types as well. */
function jsonOrder({ operator, left, right }: ResolvedComparison, leftPlace: Place, rightPlace: Place): Predicate {
  const a = valueSql(left, 'json', leftPlace);
  const b = valueSql(right, 'json', rightPlace);
  return nullable(
    `(jsonb_typeof(${a}) = jsonb_typeof(${b}) and jsonb_typeof(${a}) in ('number', 'string', 'boolean') and ${a} ${operator} ${b})`,
  );
}

/** Is there the right text in one of the list's items? */
function anyContains(comparison: ResolvedComparison, left: Place, right: Place): Predicate {
  const item = left.parameters.alias();
  const list = valueSql(comparison.left, 'list', left);
  const found = within(`(${item}.item #>> '{}')`, comparison, left, right);
  return certain(`exists (select 1 from jsonb_path_query(${list}, '$[*]') ${item}(item) where ${found})`);
}

const contains = (comparison: ResolvedComparison, left: Place, right: Place): Predicate =>
  nullable(within(valueSql(comparison.left, 'text', left), comparison, left, right));

/**
 * Substring search without case. What is the same for all rows becomes a LIKE pattern, which a trigram index can
 * serve, folded in a sub-select: that runs once per statement, the bare call would run once per row. Without an index
 * the text is first searched as it stands: where that finds it, the folding, ten times as dear, is saved.
 */
function within(hay: string, { left, right: needle }: ResolvedComparison, place: Place, needlePlace: Place): string {
  const folded = lowerSql(hay, place);
  const pattern = findPattern(needle, needlePlace);
  if (pattern === undefined)
    return `strpos(${folded}, ${lowerSql(valueSql(needle, 'text', needlePlace), needlePlace)}) > 0`;
  const found = `${folded} like (select ${lowerSql(pattern, needlePlace)})`;
  return left.source === 'column' && left.isSearchable ? found : `(${hay} like ${pattern} or ${found})`;
}

function findPattern(needle: Source, { parameters }: Place): string | undefined {
  if (needle.source === 'constant') return parameters.fixed(patternOf(needle.value), 'text');
  if (needle.source !== 'request') return undefined;
  const key = `pattern ${needle.part}.${needle.path.join('.')}`;
  return parameters.ofRequest(key, 'text', (request) => {
    const text = readRequestValue({ ...needle, kind: 'text' }, request);
    return text === null ? null : patternOf(text);
  });
}

/** `%` and `_` are plain characters of the language (contract §2). */
const patternOf = (text: unknown): string => `%${String(text).replace(/[\\%_]/g, '\\$&')}%`;
