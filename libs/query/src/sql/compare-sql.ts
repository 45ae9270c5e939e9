import type { ValueKind } from '@recordbus/schema';
import { plainColumn } from '../resolve/path.ts';
import { type Column, hasSeveralValues, type ResolvedComparison, type Source } from '../resolve/resolved.ts';
import { callerArray } from './caller-sql.ts';
import { existsFromAccount, existsThrough } from './hops.ts';
import { listHas } from './list-sql.ts';
import { canBeNull, isNull } from './null-sql.ts';
import { and, certain, not, nullable, or, type Predicate } from './predicate.ts';
import { type SqlTarget, targetOf } from './sql-target.ts';
import { valueSql } from './value-sql.ts';
import { anyContains, contains } from './within-sql.ts';

/** Both sides' targets: the rows at which their paths begin, and later those that they lead to. */
export interface Places {
  readonly left: SqlTarget;
  readonly right: SqlTarget;
}

/**
 * Compiles a comparison: true where it holds, otherwise false or null. A negated comparison holds whenever the plain
 * one does not, even for null. `compile` handles callers who lack a value.
 */
export function compareSql(comparison: ResolvedComparison, into: SqlTarget): Predicate {
  const places = { left: placeOf(comparison.left, into), right: placeOf(comparison.right, into) };
  const { isNegated, negatesValue } = comparison;
  const isWhole = !hasSeveralValues(comparison.left) || isInArray(comparison.left, comparison);
  if (isWhole && !negatesValue) return compareOne(comparison, places);
  const found = compareSome(comparison, places);
  return isNegated ? not(found) : found;
}

function placeOf(source: Source, into: SqlTarget): SqlTarget {
  return source.source === 'column' ? targetOf(source, into) : into;
}

/** Holds where one value on the left passes. */
function compareSome(comparison: ResolvedComparison, places: Places): Predicate {
  const { left, list, negatesValue } = comparison;
  const isListOfValues = list === 'left' && negatesValue;
  if (hasSeveralValues(left) || (isListOfValues && left.source === 'column' && left.hops.length > 0))
    return through(left, places.left, (end) => compareSome(atEnd(comparison, 'left'), { ...places, left: end }).sql);
  if (isListOfValues) return compareEntries(comparison, places);
  return compareOne({ ...comparison, isNegated: negatesValue, negatesValue: false }, places);
}

/** Holds where the comparison fails for one entry in the list on the left. */
function compareEntries(comparison: ResolvedComparison, places: Places): Predicate {
  const { left, right } = comparison;
  const entry = places.left.parameters.alias();
  const isInList = isList(right);
  const one: ResolvedComparison = {
    ...comparison,
    left: plainColumn([], 'value', 'text'),
    as: isInList ? 'list' : 'text',
    list: isInList ? 'right' : undefined,
    isNegated: true,
    negatesValue: false,
  };
  const list = valueSql(left, 'list', places.left);
  const condition = compareOne(one, { ...places, left: { ...places.left, row: entry } });
  return certain(`exists (select 1 from jsonb_array_elements_text(${list}) ${entry}(value) where ${condition.sql})`);
}

/** Whether a value is a list. A list's length is a number. */
function isList(source: Source): boolean {
  if (source.source === 'column') return source.kind === 'list' && source.transform === undefined;
  return (source.source === 'caller' || source.source === 'request') && source.kind === 'list';
}

/** Compares one value on the left, maybe with several on the right. */
function compareOne(comparison: ResolvedComparison, places: Places): Predicate {
  const { right, isNegated } = comparison;
  const isOpposite = (found: Predicate) => (isNegated ? not(found) : found);
  if (hasSeveralValues(right) && !isInArray(right, comparison)) {
    const one = (end: SqlTarget) =>
      compareOne({ ...atEnd(comparison, 'right'), isNegated: false }, { ...places, right: end }).sql;
    return isOpposite(through(right, places.right, one));
  }
  if (comparison.operator !== '=') return isOpposite(strict(comparison, places));
  return isNegated ? differ(comparison, places) : equal(comparison, places);
}

/** Whether the caller's values are compared as an array, which is computed once per statement. */
const isInArray = (source: Source, { operator, negatesValue }: ResolvedComparison): boolean =>
  source.source === 'caller' && (operator === '=' || operator === 'in') && !negatesValue;

/** Follows a path's relations with several values. */
function through(source: Source, from: SqlTarget, condition: (end: SqlTarget) => string): Predicate {
  if (source.source === 'caller') return existsFromAccount(source.account, source.column, from, condition);
  if (source.source === 'column') return existsThrough(source, from, condition);
  throw new Error('only a path has several values');
}

/** The comparison at the end of one side's path. A caller's null equals nothing (rules §4.4). */
function atEnd(comparison: ResolvedComparison, side: 'left' | 'right'): ResolvedComparison {
  const source = comparison[side];
  const operator = source.source === 'caller' && comparison.operator === '=' ? 'in' : comparison.operator;
  return { ...comparison, operator, [side]: arrived(source) };
}

/** The column at the end of a path that was followed. */
function arrived(source: Source): Column {
  const column = source.source === 'caller' ? source.column : source;
  if (column.source !== 'column') throw new Error('only a path leads to a column');
  return { ...column, hops: [], up: 0 };
}

function equal(comparison: ResolvedComparison, places: Places): Predicate {
  const same = strict(comparison, places);
  const [first, second] = sidesOf(comparison);
  if (!canBeNull(comparison.left) || !canBeNull(comparison.right)) return same;
  return or(same, and(isNull(comparison[first], places[first]), isNull(comparison[second], places[second])));
}

/** Both sides, a list first. */
const sidesOf = ({ list }: ResolvedComparison): readonly ['left' | 'right', 'left' | 'right'] =>
  list === 'right' ? ['right', 'left'] : ['left', 'right'];

function differ(comparison: ResolvedComparison, places: Places): Predicate {
  const { left, right, as } = comparison;
  if (as === 'list' || !isPlain(left) || !isPlain(right)) return not(equal(comparison, places));
  return certain(pair(comparison, places, 'is distinct from'));
}

/** Whether only SQL's null means no value, and there is no relation to follow. */
const isPlain = (source: Source): boolean => {
  if (source.source === 'column') return source.hops.length === 0;
  if (source.source === 'caller') return !hasSeveralValues(source);
  return source.source !== 'request' || source.part === 'auth';
};

/** Holds where both sides have a value and the operator holds. Follows one side's relations, then the other's. */
function strict(comparison: ResolvedComparison, places: Places): Predicate {
  for (const side of sidesOf(comparison)) {
    const source = comparison[side];
    if (source.source !== 'column' || source.hops.length === 0) continue;
    const one = { ...comparison, [side]: arrived(source) };
    return existsThrough(source, places[side], (end) => strict(one, { ...places, [side]: end }).sql);
  }
  return strictHere(comparison, places);
}

function strictHere(comparison: ResolvedComparison, places: Places): Predicate {
  const { operator, as } = comparison;
  if (operator === '~') return as === 'list' ? anyContains(comparison, places) : contains(comparison, places);
  if (as === 'list') return listHas(comparison, places);
  if (isArray(comparison.left) || isArray(comparison.right)) return nullable(arraySql(comparison, places));
  if (as === 'json' && operator !== '=' && operator !== 'in') return jsonOrder(comparison, places);
  return nullable(pair(comparison, places, operator));
}

/** Whether the side is an array: items in `in (…)`, or caller values. */
const isArray = (source: Source): boolean => source.source === 'several' || hasSeveralValues(source);

/** Holds where one side is in the other's array, or where two arrays share a value. */
function arraySql({ left, right, as }: ResolvedComparison, places: Places): string {
  const [a, b] = [arrayOrValue(left, as, places.left), arrayOrValue(right, as, places.right)];
  if (isArray(left) && isArray(right)) return `${a} && ${b}`;
  return isArray(left) ? `${b} = any(${a})` : `${a} = any(${b})`;
}

const arrayOrValue = (source: Source, as: ValueKind, into: SqlTarget): string =>
  source.source === 'caller' && isArray(source) ? callerArray(source, as, into) : valueSql(source, as, into);

/** Both sides with an operator between them. */
const pair = ({ left, right, as }: ResolvedComparison, places: Places, operator: string): string =>
  `${valueSql(left, as, places.left)} ${operator === 'in' ? '=' : operator} ${valueSql(right, as, places.right)}`;

/** Compares numbers with numbers, strings with strings and booleans with booleans: PostgreSQL would order types too. */
function jsonOrder({ operator, left, right }: ResolvedComparison, places: Places): Predicate {
  const a = valueSql(left, 'json', places.left);
  const b = valueSql(right, 'json', places.right);
  return nullable(
    `(jsonb_typeof(${a}) = jsonb_typeof(${b}) and jsonb_typeof(${a}) in ('number', 'string', 'boolean') and ${a} ${operator} ${b})`,
  );
}
