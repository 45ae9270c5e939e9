import { and, type Condition, or, test } from './condition.ts';
import type { Kind } from './path.ts';
import type { Near } from './single.ts';
import type { Operator } from './tree.ts';
import { Untranslatable } from './untranslatable.ts';

/** A value that is compared with another. */
export interface Value {
  readonly text: string;
  readonly kind: Kind;
  /** Whether it is empty: in PocketBase, two empty values are equal. */
  readonly empty: Condition;
  readonly filled: Condition;
  /** Whether the record that has it may be missing: then its order is unknown. */
  readonly mayBeMissing: boolean;
  /** How an empty value is written here: `both` if it may be null or `""`. */
  readonly emptyIs: 'text' | 'null' | 'both';
  /** Where it comes from. Within `exists`, two records' nulls are not equal here. */
  readonly origin: 'record' | 'outer' | 'request';
}

type Group = 'text' | 'number' | 'bool' | 'date';

function groupOf(kind: Kind): Group {
  if (kind === 'id' || kind === 'choice' || kind === 'text' || kind === 'entries') return 'text';
  if (kind === 'number' || kind === 'bool' || kind === 'date') return kind;
  throw new Untranslatable(`a value of the kind ${kind} compared with another value`);
}

/** Both sides' kind. Throws Untranslatable if they differ. */
export function commonGroup(a: Kind, b: Kind): Group {
  const group = groupOf(a);
  if (group !== groupOf(b)) throw new Untranslatable(`a ${a} compared with a ${b}`);
  return group;
}

/** Compares two values, neither the caller's. */
export function comparePair(left: Value, operator: Operator, right: Value, near: Near): Condition {
  const group = commonGroup(left.kind, right.kind);
  const plain = test(`${left.text} ${operator} ${right.text}`);
  switch (operator) {
    case '=':
      return isCovered(left, right) ? plain : or(plain, and(left.empty, right.empty));
    case '!=': {
      const unequal = isCovered(left, right) ? plain : and(plain, or(left.filled, right.filled));
      return and(unequal, isStored(left), isStored(right));
    }
    case '~':
    case '!~':
      throw new Untranslatable(`${operator} with a value that may hold a pattern`);
    default:
      if (group === 'number') return plain;
      if (group === 'bool') throw new Untranslatable('the order of bools');
      if (group === 'text') near('the order of texts');
      return group === 'date' ? compareDates(left, operator, right) : plain;
  }
}

/** PocketBase stores 0 or false for a number or a bool that a body names as null, and null differs from both here. */
function isStored({ text, kind, origin, mayBeMissing }: Value): Condition {
  const mayBeNull = (kind === 'number' || kind === 'bool') && origin !== 'request' && !mayBeMissing;
  return mayBeNull ? test(`${text} != null`) : 'always';
}

/** Whether `=` here treats empty values as PocketBase does. */
function isCovered(left: Value, right: Value): boolean {
  if (left.empty === 'never' || right.empty === 'never') return true;
  if (left.emptyIs !== right.emptyIs || left.emptyIs === 'both') return false;
  return left.emptyIs === 'text' || (left.origin === right.origin && left.origin === 'record');
}

/** An empty date comes before every other. */
function compareDates(left: Value, operator: '<' | '<=' | '>' | '>=', right: Value): Condition {
  if (left.mayBeMissing || right.mayBeMissing) throw new Untranslatable('dates of records that may be missing');
  const plain = test(`${left.text} ${operator} ${right.text}`);
  switch (operator) {
    case '<':
      return or(plain, and(left.empty, right.filled));
    case '<=':
      return or(plain, left.empty);
    case '>':
      return or(plain, and(left.filled, right.empty));
    default:
      return or(plain, right.empty);
  }
}
