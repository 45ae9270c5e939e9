import { and, type Condition, not, or, quote, test } from './condition.ts';
import { compareDate, compareMoment } from './date-bounds.ts';
import { asStoredText, hasPlainCase, type Literal, numberText, searchedText } from './literal.ts';
import type { Path } from './path.ts';
import type { Operator } from './tree.ts';
import { Untranslatable } from './untranslatable.ts';

/** Accepts a translation that finds other records in rare cases, in a client's filter; throws in a rule. */
export type Near = (why: string) => void;

/** Whether the record before the end is there. */
const isReached = (hop: string | undefined): Condition => (hop === undefined ? 'always' : test(`${hop} != null`));
const isMissing = (hop: string | undefined): Condition => (hop === undefined ? 'never' : test(`${hop} = null`));

type EmptyPath = Pick<Path, 'text' | 'kind' | 'hop' | 'isAddress'>;

/** The domain in the addresses of accounts without one (auth §1.4). */
const madeUp = quote('@users.invalid');

/** Whether the value is empty in PocketBase: no value, or no record on the path. */
export function isEmpty({ text, kind, hop, isAddress }: EmptyPath): Condition {
  if (isAddress) return or(isMissing(hop), test(`${text} ~ ${madeUp}`));
  switch (kind) {
    case 'text':
      return or(test(`${text} = null`), test(`${text} = ""`));
    case 'choice':
    case 'date':
    case 'json':
      return test(`${text} = null`);
    default:
      return isMissing(hop);
  }
}

export function isFilled(path: EmptyPath): Condition {
  const { text, kind, hop, isAddress } = path;
  if (isAddress) return and(isReached(hop), test(`${text} !~ ${madeUp}`));
  if (kind === 'text') return and(test(`${text} != null`), test(`${text} != ""`));
  if (kind === 'choice' || kind === 'date' || kind === 'json') return test(`${text} != null`);
  return isReached(hop);
}

/** Compares a path to one value with a literal. */
export function compareSingle(path: Path, operator: Operator, literal: Literal, near: Near): Condition {
  if (path.modifier === 'length') return compareLength(path, operator, literal);
  if (literal.type === 'empty' && path.kind !== 'json' && operator !== '~' && operator !== '!~')
    return compareEmpty(path, operator);
  switch (path.kind) {
    case 'id':
    case 'text':
    case 'choice':
      return operator === '~' || operator === '!~'
        ? search(path, operator, literal, near)
        : compareText(path, operator, literal, near);
    case 'number':
      return compareNumber(path, operator, literal, near);
    case 'bool':
      return compareBool(path, operator, literal);
    case 'date':
      return compareDates(path, operator, literal);
    case 'json':
      return compareJson(path, operator, literal, near);
    case 'list':
      return compareList(path, operator, literal);
    default:
      throw new Untranslatable(`${path.text} compared with a value`);
  }
}

function compareEmpty(path: Path, operator: Operator): Condition {
  if (path.kind === 'point') throw new Untranslatable('a point compared with a value');
  if (operator !== '=' && operator !== '!=') throw new Untranslatable(`${operator} with an empty value`);
  return operator === '=' ? isEmpty(path) : isFilled(path);
}

/** What a test says about an empty value and about a missing record, where a null here stands for both. */
interface AtNull {
  readonly here: boolean;
  readonly ifEmpty: boolean;
  readonly ifMissing: boolean;
}

function adjust({ text, hop }: Path, base: Condition, { here, ifEmpty, ifMissing }: AtNull): Condition {
  const isNull = test(`${text} = null`);
  const isThere = isReached(hop);
  if (hop === undefined || ifEmpty === ifMissing) {
    if (ifEmpty === here) return base;
    return ifEmpty ? or(base, isNull) : and(test(`${text} != null`), base);
  }
  return here ? and(isThere, base) : or(base, and(isThere, isNull));
}

function compareText(path: Path, operator: Operator, literal: Literal, near: Near): Condition {
  const value = asStoredText(literal);
  const isLower = path.modifier === 'lower';
  if (operator === '=' || operator === '!=') {
    if (isLower && !hasPlainCase(value)) near('lower case beyond ASCII');
    return test(`${path.text}${isLower ? ':lower' : ''} ${operator} ${quote(value)}`);
  }
  if (literal.type !== 'text') throw new Untranslatable(`${operator} between a text and another kind`);
  near('the order of texts');
  return test(`${path.text} ${operator} ${quote(value)}`);
}

function search(path: Path, operator: '~' | '!~', literal: Literal, near: Near): Condition {
  const value = searchedText(literal);
  const isThere = isReached(path.hop);
  if (value === '') return operator === '~' ? isThere : 'never';
  if (!hasPlainCase(value)) near('a search for letters beyond ASCII, whose case PocketBase tells apart');
  if (path.modifier === 'lower' && path.kind !== 'text') throw new Untranslatable(':lower of a choice');
  const base = test(`${path.text} ${operator} ${quote(value)}`);
  if (path.isAddress) return operator === '~' ? and(base, isFilled(path)) : and(isThere, or(base, isEmpty(path)));
  return operator === '!~' ? and(isThere, base) : base;
}

function compareNumber(path: Path, operator: Operator, literal: Literal, near: Near): Condition {
  const { text, hop } = path;
  if (operator === '~' || operator === '!~') {
    near('a number searched as text');
    return test(`${text} ${operator} ${quote(searchedText(literal))}`);
  }
  const value = numberOf(literal);
  // For a number that a body names as null, PocketBase stores 0.
  if (operator === '!=' && value === 0 && hop === undefined) return and(test(`${text} != 0`), test(`${text} != null`));
  return test(`${text} ${operator} ${numberText(value)}`);
}

function numberOf(literal: Literal): number {
  if (literal.type === 'number') return literal.value;
  if (literal.type === 'bool') return literal.value ? 1 : 0;
  if (literal.type === 'text' && /^-?\d+(\.\d+)?$/.test(literal.value)) return Number(literal.value);
  throw new Untranslatable('a number compared with another kind');
}

function compareBool({ text, hop }: Path, operator: Operator, literal: Literal): Condition {
  const value = numberOf(literal);
  if ((operator !== '=' && operator !== '!=') || (value !== 0 && value !== 1))
    throw new Untranslatable('a bool compared with another value');
  if (operator === '!=' && value === 0) return or(test(`${text} = true`), isMissing(hop));
  return test(`${text} ${operator} ${value === 1}`);
}

function compareDates(path: Path, operator: Operator, literal: Literal): Condition {
  if (literal.type !== 'text' && literal.type !== 'moment')
    throw new Untranslatable('a date compared with another kind');
  const base =
    literal.type === 'text'
      ? compareDate(path.text, operator, literal.value)
      : compareMoment(path.text, operator, literal.name);
  if (path.field.type === 'autodate' && path.hop === undefined) return base;
  const isBefore = operator === '<' || operator === '<=';
  const isUnequal = operator === '!=';
  return adjust(path, base, {
    here: isUnequal || base === 'always',
    ifEmpty: isBefore || isUnequal,
    ifMissing: isUnequal,
  });
}

function compareJson({ text }: Path, operator: Operator, literal: Literal, near: Near): Condition {
  if (literal.type === 'moment') throw new Untranslatable('JSON compared with a time');
  if (operator === '=' || operator === '!=') {
    if (literal.type === 'text' && /^[[{]/.test(literal.value)) throw new Untranslatable('JSON compared as text');
    const equal = or(...jsonTexts(literal).map((value) => test(`${text} = ${value}`)));
    return operator === '=' ? equal : and(...jsonTexts(literal).map((value) => test(`${text} != ${value}`)));
  }
  if (operator === '~' || operator === '!~') {
    near('JSON searched as text');
    return test(`${text} ${operator} ${quote(searchedText(literal))}`);
  }
  if (literal.type !== 'number') throw new Untranslatable('the order of JSON values');
  const base = test(`${text} ${operator} ${numberText(literal.value)}`);
  if (operator === '>' || operator === '>=') {
    near('JSON that may be a text, which PocketBase sorts after numbers');
    return base;
  }
  const isBelow = (value: number) => (operator === '<' ? value < literal.value : value <= literal.value);
  return or(
    base,
    ...[false, true].filter((value) => isBelow(Number(value))).map((value) => test(`${text} = ${value}`)),
  );
}

/** The JSON values that SQLite takes for the literal: true is 1. */
function jsonTexts(literal: Exclude<Literal, { type: 'moment' }>): string[] {
  switch (literal.type) {
    case 'empty':
      return [literal.isNull ? 'null' : '""'];
    case 'text':
      return [quote(literal.value)];
    case 'bool':
      return [String(literal.value), String(Number(literal.value))];
    case 'number':
      return [numberText(literal.value), ...([0, 1].includes(literal.value) ? [String(literal.value === 1)] : [])];
  }
}

/** A field with several values, without `:each`, is a JSON text in PocketBase: `=` compares the whole text. */
export function compareList(path: Path, operator: Operator, literal: Literal): Condition {
  const { text, hop, field } = path;
  const isThere = isReached(hop);
  if (operator === '=' || operator === '!=') {
    if (literal.type === 'text' && literal.value.startsWith('[')) {
      if (literal.value !== '[]') throw new Untranslatable('a list compared as JSON text');
      const isNone = and(isThere, test(`${text} = null`));
      return operator === '=' ? isNone : or(isMissing(hop), test(`${text} != null`));
    }
    const equal = literal.type === 'empty' ? isMissing(hop) : 'never';
    return operator === '=' ? equal : not(equal);
  }
  if (operator !== '~' && operator !== '!~') throw new Untranslatable('the order of lists');
  const value = searchedText(literal);
  if (value === '') return operator === '~' ? isThere : 'never';
  const values = field.values ?? [];
  if (!/^[\w .-]+$/.test(value) || !values.every((known) => /^[^"\\<>&\p{C}]*$/u.test(known)))
    throw new Untranslatable('a list searched as JSON text');
  const base = test(`${text} ${operator} ${quote(value)}`);
  return operator === '~' ? base : and(isThere, base);
}

/** How many values a field has. A field with one value has 0 or 1. */
function compareLength({ text, kind, hop }: Path, operator: Operator, literal: Literal): Condition {
  if (operator === '~' || operator === '!~' || literal.type !== 'number')
    throw new Untranslatable(':length compared with another kind');
  const holds = (length: number) => order(operator, length, literal.value);
  const isThere = isReached(hop);
  if (kind === 'list') {
    const base = test(`count(${text}) ${operator} ${numberText(literal.value)}`);
    return holds(0) ? or(isMissing(hop), base) : and(isThere, base);
  }
  return or(holds(1) ? test(`${text} != null`) : 'never', holds(0) ? test(`${text} = null`) : 'never');
}

export function order(operator: Operator, a: number, b: number): boolean {
  switch (operator) {
    case '<':
      return a < b;
    case '<=':
      return a <= b;
    case '>':
      return a > b;
    case '>=':
      return a >= b;
    default:
      return (a === b) === (operator === '=');
  }
}
