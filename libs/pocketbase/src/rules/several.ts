import { and, type Condition, not, or, quote, test } from './condition.ts';
import { compareDate, compareMoment } from './date-bounds.ts';
import { asStoredText, hasPlainCase, type Literal, numberText, searchedText } from './literal.ts';
import type { Path, Several } from './path.ts';
import { compareSingle, type Near, order } from './single.ts';
import type { Operator } from './tree.ts';
import { Untranslatable } from './untranslatable.ts';

/** A path to several values. */
export type SeveralPath = Path & { readonly several: Several };

export const isSeveral = (path: Path): path is SeveralPath => path.several !== undefined;

const complement: Readonly<Record<string, string>> = { '<': '>=', '<=': '>' };

/** Compares several values with a literal. A plain operator asks for all, one with `?` for some. */
export function compareSeveral(
  path: SeveralPath,
  operator: Operator,
  isAny: boolean,
  literal: Literal,
  near: Near,
): Condition {
  if (path.modifier === 'length') return compareLengths(path, operator, isAny, literal);
  const isSearch = operator === '~' || operator === '!~';
  if (path.isAddress && (isSearch || literal.type === 'empty'))
    throw new Untranslatable('addresses of several accounts, of which some may have none');
  const isEmptyTest = literal.type === 'empty' && !isSearch && (path.kind !== 'json' || literal.isNull);
  if (path.kind === 'list') return compareLists(path, operator, isAny, literal);
  if (isEmptyTest) return compareEmpties(path, operator, isAny);
  if (path.kind === 'date') return compareDates(path, operator, isAny, literal);
  if (path.kind === 'bool' && operator === '!=' && (literal.type !== 'bool' || !literal.value))
    return compareUnequalBools(path, isAny, literal);
  return compareWith(path, operator, isAny, literalValue(valueText(path, operator, literal, near)));
}

/** Whether the path leads to some record, or the list has some value. */
const hasValues = ({ several }: SeveralPath): Condition => test(`count(${several.records}) > 0`);
const hasNoValues = ({ several }: SeveralPath): Condition => test(`count(${several.records}) = 0`);

/** Another value as a literal or a path here. */
export interface OtherValue {
  readonly text: string;
  /** Whether PocketBase knows it when it builds its SQL. It compares other values as `""` where a row has no value. */
  readonly isKnown: boolean;
  /** Tests that the caller's value is there. */
  readonly isThere?: Condition;
}

/** Compares several values with one that is not empty. */
export function compareWith(
  path: SeveralPath,
  operator: Operator,
  isAny: boolean,
  { text: value, isKnown, isThere = 'always' }: OtherValue,
): Condition {
  const text = path.modifier === 'lower' ? `${path.text}:lower` : path.text;
  const some = test(`${text} ${operator} ${value}`);
  const positive = operator === '!~' ? '~' : '=';
  if (operator === '=' && !isAny && !isKnown && !path.several.isPure)
    throw new Untranslatable('= with a field over more than one relation');
  switch (operator) {
    case '!=':
      if (!isAny) return some;
      if (!path.several.isPure) throw new Untranslatable('?!= over more than one relation');
      return or(not(test(`all(${text} = ${value})`)), and(hasNoValues(path), isThere));
    case '!~':
      return isAny ? not(test(`all(${text} ${positive} ${value})`)) : and(hasValues(path), some);
    default:
      return isAny ? some : and(some, test(`all(${text} ${operator} ${value})`));
  }
}

const literalValue = (text: string): OtherValue => ({ text, isKnown: true });

function valueText(path: SeveralPath, operator: Operator, literal: Literal, near: Near): string {
  const { kind } = path;
  if (kind !== 'id' && kind !== 'text' && kind !== 'choice' && kind !== 'entries') {
    // The single comparison checks the literal; its text ends with the value.
    const single = compareSingle({ ...path, hop: undefined }, operator === '!=' ? '=' : operator, literal, near);
    const start = `${path.text} ${operator === '!=' ? '=' : operator} `;
    if (typeof single !== 'object' || single.kind !== 'test' || !single.text.startsWith(start))
      throw new Untranslatable('several values of this kind compared so');
    return single.text.slice(start.length);
  }
  if (operator === '~' || operator === '!~') {
    const value = searchedText(literal);
    if (value === '') throw new Untranslatable('a search for nothing');
    if (!hasPlainCase(value)) near('a search for letters beyond ASCII, whose case PocketBase tells apart');
    if (path.modifier === 'lower') throw new Untranslatable(':lower in a search');
    return quote(value);
  }
  if (operator !== '=' && operator !== '!=') near('the order of texts');
  const value = asStoredText(literal);
  if (path.modifier === 'lower' && !hasPlainCase(value)) near('lower case beyond ASCII');
  return quote(value);
}

/** Compares with null and `""`. Where the join has no record, PocketBase sees one empty value. */
function compareEmpties(path: SeveralPath, operator: Operator, isAny: boolean): Condition {
  if (operator !== '=' && operator !== '!=') throw new Untranslatable(`${operator} with an empty value`);
  const { text, kind, several } = path;
  if (!several.isPure && isAny === (operator === '='))
    throw new Untranslatable('an empty value over more than one relation');
  const isFilled = hasValues(path);
  const isNone = hasNoValues(path);
  // Ids, entries, numbers and bools are never empty.
  const empty = kind === 'text' ? '""' : ['choice', 'date', 'json'].includes(kind) ? 'null' : undefined;
  if (empty === undefined) return operator === '=' ? isNone : isFilled;
  if (operator === '=') return isAny ? or(isNone, test(`${text} = ${empty}`)) : test(`all(${text} = ${empty})`);
  return isAny ? not(test(`all(${text} = ${empty})`)) : and(isFilled, test(`${text} != ${empty}`));
}

function compareDates(path: SeveralPath, operator: Operator, isAny: boolean, literal: Literal): Condition {
  if (literal.type !== 'text' && literal.type !== 'moment')
    throw new Untranslatable('a date compared with another kind');
  const base =
    literal.type === 'text'
      ? compareDate(path.text, operator, literal.value)
      : compareMoment(path.text, operator, literal.name);
  if (operator === '=' && base === 'never') return 'never';
  if (operator === '!=' && base === 'always') return 'always';
  const [, sign = '', value = 'null'] = typeof base === 'object' && base.kind === 'test' ? base.text.split(' ') : [];
  if (value === 'null') throw new Untranslatable('a date beyond all dates');
  const opposite = complement[sign];
  if (opposite === undefined) return compareWith(path, sign as Operator, isAny, literalValue(value));
  // An empty date comes before every other.
  return isAny
    ? not(test(`all(${path.text} ${opposite} ${value})`))
    : and(hasValues(path), test(`none(${path.text} ${opposite} ${value})`));
}

/** `!= false` is true, except for a record that does not exist. */
function compareUnequalBools(path: SeveralPath, isAny: boolean, literal: Literal): Condition {
  if (literal.type !== 'bool' && !(literal.type === 'number' && literal.value === 0))
    throw new Untranslatable('a bool compared with another value');
  if (!isAny) return test(`all(${path.text} = true)`);
  if (!path.several.isPure) throw new Untranslatable('?!= over more than one relation');
  return or(test(`${path.text} = true`), hasNoValues(path));
}

/** How many values the lists of several records have. Where the join has no record, PocketBase sees an empty list. */
function compareLengths(path: SeveralPath, operator: Operator, isAny: boolean, literal: Literal): Condition {
  if (path.kind !== 'list' || operator === '~' || operator === '!~' || literal.type !== 'number')
    throw new Untranslatable(':length of several lists compared so');
  if (!path.several.isPure) throw new Untranslatable(':length over more than one relation');
  const length = `${path.text}:length`;
  const value = numberText(literal.value);
  const holdsForNone = order(operator, 0, literal.value);
  if (isAny) {
    const some = operator === '!=' ? not(test(`all(${length} = ${value})`)) : test(`${length} ${operator} ${value}`);
    return holdsForNone ? or(some, hasNoValues(path)) : some;
  }
  const all = test(operator === '!=' ? `${length} != ${value}` : `all(${length} ${operator} ${value})`);
  return holdsForNone ? all : and(hasValues(path), all);
}

/** Lists where a path ends, as JSON texts. */
function compareLists(path: SeveralPath, operator: Operator, isAny: boolean, literal: Literal): Condition {
  if (literal.type === 'text' && literal.value.startsWith('[')) throw new Untranslatable('lists compared as JSON text');
  if (operator === '=' || operator === '!=') {
    if (literal.type === 'empty') throw new Untranslatable('lists compared with an empty value');
    return operator === '=' ? 'never' : 'always';
  }
  const single = compareSingle({ ...path, hop: undefined }, operator, literal, () => undefined);
  if (operator === '~' && isAny) return single;
  if (operator === '!~' && !isAny) return and(hasValues(path), single);
  throw new Untranslatable('several lists searched so');
}
