import { existsThrough } from './hops.ts';
import { canBeNull, isNull, isOfCaller, isSignedIn } from './null-sql.ts';
import { and, certain, not, nullable, or, type Predicate } from './predicate.ts';
import { readRequestValue } from './request-values.ts';
import type { ResolvedComparison, Source } from './resolved.ts';
import type { SqlTarget } from './sql-target.ts';
import { lowerSql } from './sql-target.ts';
import { valueSql } from './value-sql.ts';

/**
 * Compiles a comparison: true where it holds, else false or null. `!=` and `!~` hold wherever `=` and `~` do not, even
 * for null.
 */
export function compareSql(comparison: ResolvedComparison, into: SqlTarget): Predicate {
  const { operator, left, right } = comparison;
  switch (operator) {
    case '=':
      return equal(comparison, into);
    case '!=':
      return forSignedIn([left, right], into, differ(comparison, into));
    case '!~':
      return forSignedIn([left, right], into, not(strict({ ...comparison, operator: '~' }, into)));
    default:
      return strict(comparison, into);
  }
}

function equal(comparison: ResolvedComparison, into: SqlTarget): Predicate {
  const same = strict({ ...comparison, operator: '=' }, into);
  const { left, right } = comparison;
  return canBeNull(left) && canBeNull(right) ? or(same, and(isNull(left, into), isNull(right, into))) : same;
}

function differ(comparison: ResolvedComparison, into: SqlTarget): Predicate {
  const { left, right, as } = comparison;
  if (as === 'list' || !isPlain(left) || !isPlain(right)) return not(equal(comparison, into));
  return certain(pair(comparison, into, 'is distinct from'));
}

/** Whether only SQL's null means no value here, and there is no relation to follow. */
const isPlain = (source: Source): boolean =>
  source.source === 'column' ? source.hops.length === 0 : source.source !== 'request' || source.part === 'auth';

function forSignedIn(sides: readonly Source[], into: SqlTarget, predicate: Predicate): Predicate {
  return sides.filter(isOfCaller).reduce((found, side) => and(isSignedIn(side, into), found), predicate);
}

/** Holds where both sides have a value and the operator holds. Follows the relations of one side, then of the other. */
function strict(
  comparison: ResolvedComparison,
  into: SqlTarget,
  rows = { left: into.row, right: into.row },
): Predicate {
  for (const side of ['left', 'right'] as const) {
    const source = comparison[side];
    if (source.source !== 'column' || source.hops.length === 0) continue;
    const arrived = { ...comparison, [side]: { ...source, hops: [] } };
    return existsThrough(source.hops, rows[side], into, (row) => strict(arrived, into, { ...rows, [side]: row }).sql);
  }
  return strictHere(comparison, { ...into, row: rows.left }, { ...into, row: rows.right });
}

function strictHere(comparison: ResolvedComparison, left: SqlTarget, right: SqlTarget): Predicate {
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
const pair = ({ left, right, as }: ResolvedComparison, into: SqlTarget, operator: string, rightPlace = into): string =>
  `${valueSql(left, as, into)} ${operator} ${valueSql(right, as, rightPlace)}`;

/** Compares numbers with numbers, strings with strings and booleans with booleans: PostgreSQL would order types too. */
function jsonOrder(
  { operator, left, right }: ResolvedComparison,
  leftPlace: SqlTarget,
  rightPlace: SqlTarget,
): Predicate {
  const a = valueSql(left, 'json', leftPlace);
  const b = valueSql(right, 'json', rightPlace);
  return nullable(
    `(jsonb_typeof(${a}) = jsonb_typeof(${b}) and jsonb_typeof(${a}) in ('number', 'string', 'boolean') and ${a} ${operator} ${b})`,
  );
}

/** Holds where an item of the list has the text on the right. */
function anyContains(comparison: ResolvedComparison, left: SqlTarget, right: SqlTarget): Predicate {
  const item = left.parameters.alias();
  const list = valueSql(comparison.left, 'list', left);
  const found = within(`(${item}.item #>> '{}')`, comparison, left, right);
  return certain(`exists (select 1 from jsonb_path_query(${list}, '$[*]') ${item}(item) where ${found})`);
}

const contains = (comparison: ResolvedComparison, left: SqlTarget, right: SqlTarget): Predicate =>
  nullable(within(valueSql(comparison.left, 'text', left), comparison, left, right));

/**
 * Substring search that ignores case. A text that is the same for all rows becomes a LIKE pattern, which a trigram
 * index serves. A sub-select folds it once per statement; the bare call would run once per row. Without an index the
 * text is first searched unfolded: a match there saves the folding, which costs ten times as much.
 */
function within(
  hay: string,
  { left, right: needle }: ResolvedComparison,
  into: SqlTarget,
  needlePlace: SqlTarget,
): string {
  const folded = lowerSql(hay, into);
  const pattern = findPattern(needle, needlePlace);
  if (pattern === undefined)
    return `strpos(${folded}, ${lowerSql(valueSql(needle, 'text', needlePlace), needlePlace)}) > 0`;
  const found = `${folded} like (select ${lowerSql(pattern, needlePlace)})`;
  return left.source === 'column' && left.isSearchable ? found : `(${hay} like ${pattern} or ${found})`;
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

/** `%` and `_` are plain characters of the language (filters §5.6). */
const patternOf = (text: unknown): string => `%${String(text).replace(/[\\%_]/g, '\\$&')}%`;
