import type { CallerValue } from './caller-value.ts';
import { lackOf, needsOf } from './caller-value.ts';
import { and, type Condition, quote, test } from './condition.ts';
import type { Directory } from './definitions.ts';
import type { Literal } from './literal.ts';
import { exactly, type Gap, type Meaning, signedIn } from './meaning.ts';
import { compareSeveral, isSeveral } from './several.ts';
import { compareSingle, isFilled, type Near, order } from './single.ts';
import type { Operator } from './tree.ts';
import { Untranslatable } from './untranslatable.ts';

const isSignedIn = test('@request.auth.id != ""');

/** Compares a caller value with a literal. A test on a value that the caller lacks never holds here. */
export function compareCaller(
  value: CallerValue,
  operator: Operator,
  isAny: boolean,
  literal: Literal,
  near: Near,
): Meaning {
  const { path } = value;
  const isEmptyTest = literal.type === 'empty' && operator !== '~' && operator !== '!~';
  const lack = (condition: Condition): Meaning => ({ condition, gaps: [lackOf(value)], needs: [] });
  const isUnequal = operator === '!=';
  if (isSeveral(path)) {
    const condition = compareSeveral(path, operator, isAny, literal, near);
    // For a guest, PocketBase compares with null.
    if (isEmptyTest ? operator === '=' : isUnequal)
      return { condition, gaps: [guestLack(value), ...restLack(value)], needs: [] };
    return exactly(condition, isEmptyTest ? needsOf(value) : [signedIn]);
  }
  if (path.kind === 'list') return compareCallersList(value, operator, literal, near);
  if (isEmptyTest) return compareEmptyCaller(value, operator, literal);
  if (literal.type === 'empty' && !isEmptyTest)
    return operator === '~' && !literal.isNull ? matchAny(value) : exactly('never', needsOf(value));
  if (isUnequal) return lack(test(`${path.text} != ${literalText(value, literal, near)}`));
  if (path.modifier === 'length') throw new Untranslatable(':length of a single value of the caller');
  const condition = compareSingle(
    { ...path, hop: undefined, field: { ...path.field, type: withoutEmpty(path.field.type) } },
    operator,
    literal,
    near,
  );
  if (operator === '!~' && path.kind !== 'text' && !value.isSure)
    return {
      condition: test(`${path.text} !~ ${literalText(value, literal, near)}`),
      gaps: restLack(value),
      needs: [signedIn],
    };
  if (path.kind === 'date' && (operator === '<' || operator === '<='))
    return { condition, gaps: path.isRequired && path.hop === undefined ? [] : restLack(value), needs: [signedIn] };
  return exactly(condition, needsOf(value));
}

/** An automatic date is never empty, so its tests have no part for empty dates: a caller's empty date never matches. */
const withoutEmpty = (type: string) => (type === 'date' ? 'autodate' : type);

/** A search for `""` finds every value, an empty one too. */
function matchAny({ path, isEverywhere }: CallerValue): Meaning {
  if (!isEverywhere || path.hop !== undefined) throw new Untranslatable('a search for nothing');
  return exactly(isSignedIn, [signedIn]);
}

const guestLack = ({ path }: CallerValue): Gap => ({
  why: `PocketBase lets guests match: ${path.text} is empty for them`,
  closedBy: [signedIn],
});

/** Accounts that lack the value. */
const restLack = (value: CallerValue): Gap[] =>
  value.isSure ? [] : [{ why: lackOf(value).why, closedBy: [value.path.text] }];

/** The literal as a test with = writes it. */
function literalText({ path }: CallerValue, literal: Literal, near: Near): string {
  const isText = path.kind === 'id' || path.kind === 'text' || path.kind === 'choice';
  if (path.kind === 'bool' && literal.type === 'bool') return String(literal.value);
  const condition = compareSingle({ ...path, hop: undefined, modifier: undefined }, '=', literal, near);
  if (typeof condition !== 'object' || condition.kind !== 'test' || (path.modifier !== undefined && !isText))
    throw new Untranslatable(`${path.text} compared so`);
  return condition.text.slice(`${path.text} = `.length);
}

function compareEmptyCaller(value: CallerValue, operator: Operator, literal: Literal): Meaning {
  const { path } = value;
  if (path.kind === 'json' && literal.type === 'empty' && !literal.isNull)
    throw new Untranslatable('JSON of the caller compared with an empty text');
  if (operator !== '=' && operator !== '!=') throw new Untranslatable(`${operator} with an empty value`);
  const isText = path.kind === 'id' || path.kind === 'text' || path.kind === 'choice';
  const isThere = test(`${path.text} != ${isText ? '""' : 'null'}`);
  if (operator === '!=') return exactly(path.isAddress ? and(isThere, isFilled(path)) : isThere, needsOf(value));
  const condition = path.kind === 'text' ? test(`${path.text} = ""`) : 'never';
  return {
    condition,
    gaps: [{ ...lackOf(value), why: `${lackOf(value).why}; no rule here admits only them` }],
    needs: [],
  };
}

/** The caller's list without `:each` is a JSON text in PocketBase. */
function compareCallersList(value: CallerValue, operator: Operator, literal: Literal, near: Near): Meaning {
  const { path } = value;
  const isEmptyTest = literal.type === 'empty' && operator !== '~' && operator !== '!~';
  if (isEmptyTest && operator === '=') return { condition: 'never', gaps: [lackOf(value)], needs: [] };
  if (isEmptyTest && operator === '!=' && value.isEverywhere && path.hop === undefined)
    return exactly(isSignedIn, [signedIn]);
  if (isEmptyTest) throw new Untranslatable(`${path.text} compared with an empty value`);
  if (operator === '!=' && path.modifier === undefined && literal.type === 'text' && !literal.value.startsWith('['))
    return exactly('always');
  if (operator === '!=') throw new Untranslatable(`${path.text} compared as a list`);
  const condition = compareSingle({ ...path, hop: undefined }, operator, literal, near);
  // Without the record before the list, PocketBase counts 0 values, and so it does for guests.
  const isLength = path.modifier === 'length' && path.hop !== undefined && literal.type === 'number';
  if (isLength && order(operator, 0, literal.value)) return { condition, gaps: [lackOf(value)], needs: [] };
  return condition === 'always' ? matchAny(value) : exactly(condition, [signedIn]);
}

/** `@request.auth.collectionName` and `collectionId`. */
export function compareCallerCollection(
  member: 'id' | 'name',
  operator: Operator,
  literal: Literal,
  directory: Directory,
): Meaning {
  if (operator !== '=' && operator !== '!=') throw new Untranslatable(`${operator} with the caller's collection`);
  const only = [{ why: 'PocketBase lets guests match; no rule here admits only them', closedBy: [signedIn] }];
  if (literal.type === 'empty')
    return operator === '!=' ? exactly(isSignedIn, [signedIn]) : { condition: 'never', gaps: only, needs: [] };
  if (literal.type !== 'text') throw new Untranslatable("the caller's collection compared with another kind");
  const collection = directory.accounts.find((account) => account[member] === literal.value);
  if (!collection) return operator === '=' ? exactly('never', [signedIn]) : exactly('always');
  const condition = test(`@request.auth.collection ${operator} ${quote(directory.nameOf(collection))}`);
  if (operator === '=') return exactly(condition, [signedIn]);
  return {
    condition,
    gaps: [{ why: 'PocketBase lets guests match: they are in no collection', closedBy: [signedIn] }],
    needs: [],
  };
}
