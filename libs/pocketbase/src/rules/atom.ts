import { compareCaller, compareCallerCollection } from './caller-tests.ts';
import { type CallerValue, lackOf, needsOf } from './caller-value.ts';
import { and, type Condition, not, or, test } from './condition.ts';
import { compareDistance, compareLiterals } from './constant-tests.ts';
import { compareListWithId, listMistakes } from './list-mistakes.ts';
import { exactly, filled, type Meaning, signedIn } from './meaning.ts';
import { commonGroup, comparePair } from './pairs.ts';
import type { Path } from './path.ts';
import { compareRequest } from './request-tests.ts';
import { compareSeveral, compareWith, isSeveral, type SeveralPath } from './several.ts';
import { findSide, type Scope, type Side } from './side.ts';
import { compareSingle, isEmpty, isFilled } from './single.ts';
import type { Comparison, Operator } from './tree.ts';
import { Untranslatable } from './untranslatable.ts';
import { modifiedText, ownValue, requestValue } from './values.ts';

/** A comparison with its names looked up, the stored value first. */
export interface Atom {
  readonly kind: 'atom';
  readonly left: Side;
  readonly right: Side;
  readonly operator: Operator;
  readonly isAny: boolean;
}

const ranks: Readonly<Record<Side['kind'], number>> = {
  distance: 0,
  joined: 0,
  own: 1,
  caller: 2,
  callersCollection: 2,
  request: 3,
  literal: 4,
};

/** The operator with its sides exchanged. */
export const mirrored: Readonly<Record<Operator, Operator | undefined>> = {
  '=': '=',
  '!=': '!=',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
  '~': undefined,
  '!~': undefined,
};

/** Looks up a comparison's sides. Throws Untranslatable. */
export function findAtom(comparison: Comparison, scope: Scope): Atom {
  const { operator, isAny } = comparison;
  const [left, right] = [findSide(comparison.left, scope), findSide(comparison.right, scope)];
  if (ranks[left.kind] <= ranks[right.kind]) return { kind: 'atom', left, right, operator, isAny };
  const swapped = mirrored[operator];
  if (!swapped) throw new Untranslatable(`${operator} with a field on the right`);
  return { kind: 'atom', left: right, right: left, operator: swapped, isAny };
}

/** Says a comparison about the record itself, the caller and the request. */
export function meaningOfAtom({ left, right, operator, isAny }: Atom, scope: Scope): Meaning {
  if (left.kind === 'literal' && right.kind === 'literal')
    return exactly(compareLiterals(left.literal, operator, right.literal) ? 'always' : 'never');
  if (left.kind === 'own') return compareOwn(left.path, operator, isAny, right, scope);
  if (left.kind === 'caller') return compareCallerWith(left.value, operator, isAny, right, scope);
  if (left.kind === 'callersCollection' && right.kind === 'literal')
    return compareCallerCollection(left.member, operator, right.literal, scope.directory);
  if (left.kind === 'distance' && right.kind === 'literal')
    return exactly(compareDistance(left, operator, right.literal));
  if (left.kind !== 'request') throw new Untranslatable('these two values compared with each other');
  if (right.kind === 'literal')
    return exactly(compareRequest(left.value, operator, isAny, right.literal, scope.slot, scope.near));
  if (right.kind === 'request')
    return exactly(comparePair(requestValue(left.value), operator, requestValue(right.value), scope.near));
  throw new Untranslatable('these two values compared with each other');
}

/** Compares a record's value with any other. */
export function compareOwn(path: Path, operator: Operator, isAny: boolean, right: Side, scope: Scope): Meaning {
  switch (right.kind) {
    case 'literal': {
      const { literal } = right;
      const condition = isSeveral(path)
        ? compareSeveral(path, operator, isAny, literal, scope.near)
        : compareSingle(path, operator, literal, scope.near);
      const isFilledBy = literal.type === 'empty' ? operator === '!=' : ['=', '~', '>', '>='].includes(operator);
      const needs = isFilledBy && !isSeveral(path) ? [filled(path.text)] : [];
      const isJsonText = literal.type === 'text' && literal.value.startsWith('[');
      const mistakes = isJsonText ? [] : listMistakes(path, operator, literal.type === 'empty');
      return { ...exactly(condition, needs), mistakes };
    }
    case 'caller': {
      const meaning = compareListWithId(path, operator, right.value);
      return meaning ?? compareOwnWithCaller(path, operator, isAny, right.value, scope);
    }
    case 'own':
      return exactly(compareTwoOwn(path, operator, isAny, right.path, scope));
    case 'request':
      if (isSeveral(path)) throw new Untranslatable('several values compared with one of the request');
      if (commonGroup(path.kind, right.value.kind) !== 'text' && right.value.part !== 'body')
        throw new Untranslatable(`a ${path.kind} compared with a text of the request`);
      return exactly(comparePair(ownValue(path), operator, requestValue(right.value), scope.near));
    default:
      throw new Untranslatable('these two values compared with each other');
  }
}

function compareTwoOwn(left: Path, operator: Operator, isAny: boolean, right: Path, { near }: Scope): Condition {
  if (!isSeveral(left) && !isSeveral(right)) return comparePair(ownValue(left), operator, ownValue(right), near);
  const swapped = mirrored[operator];
  if (isSeveral(right) && !isSeveral(left) && swapped) return compareWithFilled(right, swapped, isAny, left);
  if (isSeveral(left) && !isSeveral(right)) return compareWithFilled(left, operator, isAny, right);
  throw new Untranslatable('several values compared with several');
}

/** Compares several values with another that is never empty. */
function compareWithFilled(path: SeveralPath, operator: Operator, isAny: boolean, other: Path): Condition {
  const group = commonGroup(path.kind, other.kind);
  if (
    operator === '~' ||
    operator === '!~' ||
    group === 'date' ||
    (group !== 'number' && operator !== '=' && operator !== '!=')
  )
    throw new Untranslatable('several values compared so with a field');
  if (!other.isRequired || other.hop !== undefined)
    throw new Untranslatable('several values compared with a field that may be empty');
  return compareWith(path, operator, isAny, { text: modifiedText(other), isKnown: false });
}

/** Compares a record's value with the caller's. */
export function compareOwnWithCaller(
  path: Path,
  operator: Operator,
  isAny: boolean,
  value: CallerValue,
  scope: Scope,
): Meaning {
  if (isSeveral(value.path)) return compareWithCallersSeveral(path, operator, isAny, value.path, value);
  const caller = modifiedText(value.path);
  const isSure = path.isRequired && path.hop === undefined;
  const isSearch = operator === '~' || operator === '!~';
  if (isSearch) return searchCaller(path, operator, isAny, value, scope);
  const group = commonGroup(path.kind, value.path.kind);
  const isThere = test(`${caller} != ${group === 'text' ? '""' : 'null'}`);
  if (isSeveral(path)) {
    if (group === 'date' || (group === 'text' && operator !== '=' && operator !== '!='))
      throw new Untranslatable('several values compared so with one of the caller');
    const compared = compareWith(path, operator, isAny, { text: caller, isKnown: isKnownText(value), isThere });
    // The caller's text may be empty, which equals no value in PocketBase.
    const mayBeEmpty = value.path.kind === 'text' || value.path.isAddress;
    const condition = operator === '!=' && mayBeEmpty ? and(compared, isThere, hasAddress(value)) : compared;
    const isOrder = operator !== '=' && operator !== '!=';
    return { condition, gaps: isOrder ? [] : [lackOf(value)], needs: isOrder ? [signedIn] : [] };
  }
  const plain = test(`${modifiedText(path)} ${operator} ${caller}`);
  switch (operator) {
    case '=': {
      const mayBeEmpty = group === 'text' || group === 'date' ? !isSure : path.hop !== undefined;
      return mayBeEmpty
        ? { condition: plain, gaps: [lackOf(value, [filled(path.text)])], needs: [] }
        : exactly(plain, [...needsOf(value), filled(path.text)]);
    }
    case '!=': {
      // The caller's text may be empty, which equals no value in PocketBase.
      if (value.path.isAddress || path.isAddress)
        return {
          condition: and(plain, or(isFilled(path), and(isThere, hasAddress(value)))),
          gaps: [lackOf(value)],
          needs: [],
        };
      const mayEqual = value.path.kind === 'text' && (path.kind === 'choice' || path.hop !== undefined);
      const isStored = test(`${path.text} != null`);
      // For a number or a bool that a body names as null, PocketBase stores 0 or false.
      const isPlain = group === 'text' || group === 'date' || path.hop !== undefined;
      const condition = and(plain, mayEqual ? or(isStored, isThere) : isPlain ? 'always' : isStored);
      return { condition, gaps: [lackOf(value)], needs: [] };
    }
    default:
      if (group === 'number') return exactly(plain, [signedIn]);
      if (group !== 'date' || path.hop !== undefined) throw new Untranslatable('the order of texts');
      return {
        condition: operator === '<' || operator === '<=' ? or(plain, and(isEmpty(path), isThere)) : plain,
        gaps: value.isSure ? [] : [{ ...lackOf(value), closedBy: [value.path.text] }],
        needs: [signedIn],
      };
  }
}

/** Whether the caller has an address of its own, where the value is one. */
const hasAddress = ({ path }: CallerValue): Condition => (path.isAddress ? isFilled(path) : 'always');

/** PocketBase reads these account values without a query. */
const isKnownText = ({ path: { text } }: CallerValue): boolean =>
  ['id', 'email', 'verified', 'emailVisibility'].some((name) => text === `@request.auth.${name}`);

/** `~` takes an id, which is not a pattern. */
function searchCaller(
  path: Path,
  operator: '~' | '!~',
  isAny: boolean,
  value: CallerValue,
  { directory }: Scope,
): Meaning {
  const isPlain = directory.accounts.every(({ fields }) =>
    fields.some(({ name, pattern }) => name === 'id' && (pattern === undefined || /^\^\[a-z0-9\]\+?\$$/.test(pattern))),
  );
  if (value.path.text !== '@request.auth.id' || !isPlain || path.modifier || path.kind === 'json')
    throw new Untranslatable(`${operator} with a value that may hold a pattern`);
  if (!['id', 'text', 'choice', 'list', 'entries'].includes(path.kind))
    throw new Untranslatable(`a ${path.kind} searched as text`);
  if (isSeveral(path)) {
    if (path.kind === 'list') throw new Untranslatable('several lists searched so');
    return exactly(compareWith(path, operator, isAny, { text: value.path.text, isKnown: true }), needsOf(value));
  }
  const found = test(`${path.text} ${operator} ${value.path.text}`);
  const isThere = path.hop === undefined ? 'always' : test(`${path.hop} != null`);
  return exactly(operator === '~' ? found : and(isThere, found), needsOf(value));
}

/** Compares the record's single value with the caller's several values. */
function compareWithCallersSeveral(
  path: Pick<Path, 'text' | 'kind' | 'isRequired' | 'hop' | 'modifier' | 'several'>,
  operator: Operator,
  isAny: boolean,
  several: SeveralPath,
  value: CallerValue,
): Meaning {
  if (path.several) throw new Untranslatable('several values compared with several');
  if (commonGroup(path.kind, several.kind) !== 'text')
    throw new Untranslatable('several values of the caller of this kind');
  const text = modifiedText(path);
  const isIn = test(`${text} in ${several.text}`);
  const isSure = path.isRequired && path.hop === undefined;
  if (operator === '=') {
    if (!isAny && !several.several.isPure)
      throw new Untranslatable('= with values of the caller over more than one relation');
    const condition = isAny ? isIn : and(isIn, test(`all(${several.text} = ${text})`));
    if (isSure) return exactly(condition, [signedIn]);
    return { condition, gaps: [{ ...lackOf(value), closedBy: [filled(path.text)] }], needs: [] };
  }
  if (operator !== '!=' || isAny || !isSure) throw new Untranslatable(`${operator} with several values of the caller`);
  return {
    condition: not(isIn),
    gaps: [{ ...lackOf(value), closedBy: value.isEverywhere ? [signedIn] : [] }],
    needs: [],
  };
}

function compareCallerWith(value: CallerValue, operator: Operator, isAny: boolean, right: Side, scope: Scope): Meaning {
  const { path } = value;
  if (right.kind === 'literal') return compareCaller(value, operator, isAny, right.literal, scope.near);
  if (operator !== '=' && operator !== '!=')
    throw new Untranslatable(`${operator} between values of the caller and the request`);
  if (right.kind === 'request') {
    const other = requestValue(right.value);
    const likePath = { ...other, isRequired: false, hop: undefined, modifier: undefined, several: undefined };
    if (isSeveral(path)) return compareWithCallersSeveral(likePath, operator, isAny, path, value);
    const isText = commonGroup(path.kind, other.kind) === 'text';
    const plain = test(`${other.text} ${operator} ${modifiedText(path)}`);
    // The caller's text may be empty, as a value may be that the request lacks.
    const isGuarded = operator === '!=' && isText && (path.kind === 'text' || path.isAddress);
    const isThere = and(test(`${path.text} != ""`), hasAddress(value));
    const condition = isGuarded ? and(plain, or(other.filled, isThere)) : plain;
    return { condition, gaps: [lackOf(value)], needs: [] };
  }
  if (right.kind !== 'caller') throw new Untranslatable('these two values compared with each other');
  const other = right.value;
  if (isSeveral(path) && isSeveral(other.path)) throw new Untranslatable('several values compared with several');
  if (isSeveral(path) || isSeveral(other.path)) {
    const [one, several] = isSeveral(path) ? [other, value] : [value, other];
    if (!isSeveral(several.path)) throw new Untranslatable('several values compared with several');
    const meaning = compareWithCallersSeveral(one.path, operator, isAny, several.path, several);
    return { ...meaning, gaps: [lackOf(value), lackOf(other)], needs: [] };
  }
  commonGroup(path.kind, other.path.kind);
  if (operator === '!=' && (path.isAddress || other.path.isAddress))
    throw new Untranslatable('an address that may be empty compared with another value of the caller');
  return {
    condition: test(`${modifiedText(path)} ${operator} ${modifiedText(other.path)}`),
    gaps: [lackOf(value), lackOf(other)],
    needs: [],
  };
}
