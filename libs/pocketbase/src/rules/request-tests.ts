import { and, type Condition, not, or, quote, test } from './condition.ts';
import { asStoredText, hasPlainCase, type Literal, numberText, searchedText } from './literal.ts';
import type { RequestValue, Slot } from './side.ts';
import { type Near, order } from './single.ts';
import type { Operator } from './tree.ts';
import { Untranslatable } from './untranslatable.ts';

/** Compares a request value with a literal. A value that the request lacks is null. */
export function compareRequest(
  value: RequestValue,
  operator: Operator,
  isAny: boolean,
  literal: Literal,
  slot: Slot,
  near: Near,
): Condition {
  const { text, modifier, kind } = value;
  if (modifier === 'isset' || modifier === 'changed') return compareFlag(value, operator, literal, slot);
  if (modifier === 'length') return compareLength(value, operator, literal);
  if (modifier === 'each' && kind === 'list') return compareEach(text, operator, isAny, literal);
  if (kind === 'text' || kind === 'choice' || kind === 'id') return compareText(value, operator, literal, near);
  if (kind !== 'number' && kind !== 'bool')
    throw new Untranslatable(`${text}, whose value may be written in other ways`);
  if (literal.type === 'empty' && (operator === '=' || operator === '!=')) return test(`${text} ${operator} null`);
  if (kind === 'bool') {
    if (literal.type !== 'bool' || (operator !== '=' && operator !== '!='))
      throw new Untranslatable(`${text} compared with another kind`);
    return test(`${text} ${operator} ${literal.value}`);
  }
  if (literal.type !== 'number' || operator === '~' || operator === '!~')
    throw new Untranslatable(`${text} compared with another kind`);
  return test(`${text} ${operator} ${numberText(literal.value)}`);
}

function compareText({ text, part, kind }: RequestValue, operator: Operator, literal: Literal, near: Near): Condition {
  if (operator === '~' || operator === '!~') {
    const needle = searchedText(literal);
    if (!hasPlainCase(needle)) near('a search for letters beyond ASCII, whose case PocketBase tells apart');
    // Here an empty relation in the body is null, like one that the body lacks.
    if (kind === 'choice' && (operator === '!~' || needle === '')) throw new Untranslatable(`${operator} of ${text}`);
    const isThere = test(`${text} != null`);
    if (needle === '') return operator === '~' ? isThere : 'never';
    const found = test(`${text} ${operator} ${quote(needle)}`);
    return operator === '~' ? found : and(isThere, found);
  }
  if (operator !== '=' && operator !== '!=') throw new Untranslatable('the order of texts');
  if (literal.type === 'empty') {
    if (part === 'method') return operator === '=' ? 'never' : 'always';
    const tests = ['null', '""'].map((empty) => test(`${text} ${operator} ${empty}`));
    return operator === '=' ? or(...tests) : and(...tests);
  }
  if (literal.type !== 'text') throw new Untranslatable(`${text} compared with another kind`);
  return test(`${text} ${operator} ${quote(asStoredText(literal))}`);
}

function compareFlag(value: RequestValue, operator: Operator, literal: Literal, slot: Slot): Condition {
  const { text, kind, modifier } = value;
  if (literal.type !== 'bool' || (operator !== '=' && operator !== '!='))
    throw new Untranslatable(`:${modifier} compared with another value than true and false`);
  if (
    modifier === 'changed' &&
    (slot === 'create' || !['text', 'choice', 'number', 'bool', 'date', 'list'].includes(kind))
  )
    throw new Untranslatable(slot === 'create' ? ':changed in a create rule' : `:changed of a ${kind} field`);
  return test(`${text}:${modifier} = ${literal.value === (operator === '=')}`);
}

/** PocketBase counts what the body has: a value that it lacks has the length 0. */
function compareLength({ text, kind }: RequestValue, operator: Operator, literal: Literal): Condition {
  if (kind !== 'list' || literal.type !== 'number' || operator === '~' || operator === '!~')
    throw new Untranslatable(`:length of ${text}`);
  const [none, some] = [order(operator, 0, literal.value), order(operator, 1, literal.value)];
  const isThreshold = none !== some && [2, 1e9].every((length) => order(operator, length, literal.value) === some);
  if (!isThreshold) throw new Untranslatable(`:length of ${text} compared with another number than 0`);
  return some ? hasEntries(text) : not(hasEntries(text));
}

/** Whether the body's list has a value: every one contains `""`. An empty list in the body is not null. */
const hasEntries = (text: string): Condition => test(`${text} ~ ""`);

function compareEach(text: string, operator: Operator, isAny: boolean, literal: Literal): Condition {
  const isEquality = operator === '=' || operator === '!=';
  if (isAny && operator === '!=') throw new Untranslatable('?!= of a list in the body');
  // No value is empty, and PocketBase finds none in an empty list or one that the body lacks.
  if (literal.type === 'empty' && isEquality) return operator === '=' ? 'never' : hasEntries(text);
  const needle = literal.type === 'text' ? literal.value : undefined;
  if (needle === undefined || !isEquality) throw new Untranslatable(`${text}:each compared so`);
  const equal = test(`${text} = ${quote(needle)}`);
  if (operator === '!=') return test(`${text} != ${quote(needle)}`);
  return isAny ? equal : and(equal, test(`all(${text} = ${quote(needle)})`));
}
