import { type Collection, type Field, quoteIdentifier } from '@recordbus/schema';
import type { Expression } from '../language/ast.ts';
import { parse } from '../language/parser.ts';
import { visitExpression } from '../language/visit-expression.ts';
import { QueryError } from '../query-error.ts';
import { serviceAccount } from '../resolve/caller-collection.ts';
import { canHold } from '../resolve/can-hold.ts';
import { resolve } from '../resolve/resolve.ts';
import {
  type Constant,
  hasSeveralValues,
  type NullTest,
  type Resolved,
  type ResolvedComparison,
  type Source,
} from '../resolve/resolved.ts';
import type { QuerySchema } from '../resolve/scope.ts';
import { visitResolved } from '../resolve/visit-resolved.ts';

/** A part of a rule that holds for no caller and no record. */
export interface DeadPart {
  /** The index of its first character. */
  readonly position: number;
  /** Whether it is the whole rule. */
  readonly isWhole: boolean;
  /** What it tests: a missing caller value, the caller's type or collection, a select's
   * value that is not a choice, or anything else. */
  readonly tests: 'null' | 'type' | 'collection' | 'choice' | 'other';
}

interface RuleScope {
  readonly collection: Collection;
  readonly schema: QuerySchema;
  readonly accounts: readonly Collection[];
}

/**
 * Finds a rule's outermost alternatives that can never hold: tests that no kind of caller passes, and constants that
 * contradict each other. It may miss some, but what it finds holds for nobody (rules §6.4).
 */
export function findDeadParts(rule: string, scope: RuleScope): DeadPart[] {
  try {
    const expression = parse(rule);
    return isDead(expression, scope)
      ? [{ position: 0, isWhole: true, tests: testsOf(expression, scope) }]
      : deadWithin(expression, scope);
  } catch (error) {
    // A rule that cannot be compiled admits nobody. It is refused where it is saved.
    if (error instanceof QueryError) return [];
    throw error;
  }
}

function deadWithin(expression: Expression, scope: RuleScope): DeadPart[] {
  if (expression.kind !== 'any' && expression.kind !== 'all') return [];
  return expression.items.flatMap((item) =>
    expression.kind === 'any' && isDead(item, scope)
      ? [{ position: positionOf(item), isWhole: false, tests: testsOf(item, scope) }]
      : deadWithin(item, scope),
  );
}

/** Whether the part holds for no kind of caller. Admins are never asked. */
const isDead = (part: Expression, { collection, schema, accounts }: RuleScope): boolean =>
  [undefined, serviceAccount, ...accounts].every((caller) => {
    const resolved = resolve(part, { collection, schema, audience: 'rule', caller });
    return !canHold(resolved, caller) || contradicts(resolved, collection);
  });

/** Whether the expression is false for every caller and record. */
const contradicts = (expression: Resolved, collection: Collection): boolean =>
  visitResolved(expression, {
    all(items) {
      const parts = flatten(items);
      return parts.some((part) => contradicts(part, collection)) || exclude(parts);
    },
    any: (items) => items.every((item) => contradicts(item, collection)),
    decided: () => false,
    nullTest: isNullOfCaller,
    comparison(test) {
      if (isNoChoice(test, collection)) return true;
      const { left, right, operator, isNegated } = test;
      if (operator !== '=' || left.source !== 'constant' || right.source !== 'constant') return false;
      return (left.value === right.value) === isNegated;
    },
    exists: () => false,
  });

/** Whether a select is compared with a text that is not among its choices, so no record passes. */
function isNoChoice(
  { left, right, operator, isNegated, negatesValue }: ResolvedComparison,
  collection: Collection,
): boolean {
  if (operator !== '=' || isNegated || negatesValue) return false;
  const [of, constant] = right.source === 'constant' ? [left, right] : [right, left];
  if (of.source !== 'column' || constant.source !== 'constant' || typeof constant.value !== 'string') return false;
  // The empty text stands for no value.
  if (of.up > 0 || of.transform || of.keys.length > 0 || constant.value === '') return false;
  // A view may show any value.
  const owner = of.hops.at(-1)?.target ?? collection;
  const choices =
    owner.type === 'view' ? undefined : choicesOf(owner.fields.find(({ name }) => quoteIdentifier(name) === of.column));
  return choices !== undefined && !choices.includes(constant.value);
}

/** A select's choices; undefined for other fields. */
function choicesOf(field: Field | undefined): readonly unknown[] | undefined {
  const values: unknown = field?.type === 'select' ? field.options.values : undefined;
  return Array.isArray(values) && values.length > 0 ? values : undefined;
}

const flatten = (items: readonly Resolved[]): readonly Resolved[] =>
  items.flatMap((item) => (item.kind === 'all' ? flatten(item.items) : [item]));

/** A single value that the caller lacks equals nothing, not even null (rules §4.4). A list without values is null. */
function isNullOfCaller({ operand, isNegated, negatesValue }: NullTest): boolean {
  const isOfCaller = operand.source === 'caller' || (operand.source === 'request' && operand.part === 'auth');
  const isSeveral = ('kind' in operand && operand.kind === 'list') || hasSeveralValues(operand);
  return isOfCaller && !isSeveral && !isNegated && !negatesValue;
}

/** A single value's comparison with a constant. */
interface Bound {
  readonly value: Constant['value'];
  readonly test: '=' | '!=' | '>' | '>=' | '<' | '<=';
}

/** Whether tests on one value exclude each other: two different values, or an empty range. */
function exclude(items: readonly Resolved[]): boolean {
  const bounds = Map.groupBy(
    items.flatMap((item) => boundOf(item) ?? []),
    ({ of }) => of,
  );
  return [...bounds.values()].some((of) => of.some((a, index) => of.slice(index + 1).some((b) => areApart(a, b))));
}

function boundOf(item: Resolved): (Bound & { readonly of: string }) | undefined {
  if (item.kind !== 'comparison' || item.as === 'list' || item.as === 'json' || item.operator === '~') return undefined;
  const { left, right, operator, isNegated } = item;
  const isForward = right.source === 'constant';
  const [of, constant] = isForward ? [left, right] : [right, left];
  if (constant.source !== 'constant' || !isSingle(of) || operator === 'in') return undefined;
  const test = isForward || operator === '=' ? operator : mirrored[operator];
  if (isNegated) return test === '=' ? { of: JSON.stringify(of), value: constant.value, test: '!=' } : undefined;
  return { of: JSON.stringify(of), value: constant.value, test };
}

const mirrored = { '>': '<', '>=': '<=', '<': '>', '<=': '>=' } as const satisfies Partial<
  Record<ResolvedComparison['operator'], Bound['test']>
>;

const isSingle = (source: Source): boolean =>
  (source.source === 'column' || source.source === 'caller' || source.source === 'request') &&
  !hasSeveralValues(source);

/** Whether no value passes both tests. Texts are only compared for equality: their order depends on the collation. */
function areApart(a: Bound, b: Bound): boolean {
  if (a.test === '=') return !passes(a.value, b);
  if (b.test === '=') return !passes(b.value, a);
  if (typeof a.value !== 'number' || typeof b.value !== 'number' || a.test === '!=' || b.test === '!=') return false;
  const [low, high] = a.test.startsWith('>') ? [a, b] : [b, a];
  if (!low.test.startsWith('>') || !high.test.startsWith('<')) return false;
  return low.value > high.value || (low.value === high.value && (low.test === '>' || high.test === '<'));
}

function passes(value: Constant['value'], { value: bound, test }: Bound): boolean {
  if (test === '=' || test === '!=') return (value === bound) === (test === '=');
  if (typeof value !== 'number' || typeof bound !== 'number') return true;
  return test === '>' ? value > bound : test === '>=' ? value >= bound : test === '<' ? value < bound : value <= bound;
}

/** What a single comparison tests, for a warning's advice. */
function testsOf(part: Expression, scope: RuleScope): DeadPart['tests'] {
  if (part.kind === 'all' || part.kind === 'any')
    return part.items.map((item) => testsOf(item, scope)).find((tests) => tests !== 'other') ?? 'other';
  if (part.kind !== 'comparison') return 'other';
  const sides = [part.left, part.right];
  const caller = sides.find((side) => side.kind === 'request' && side.segments[0] === 'auth');
  if (caller?.kind !== 'request') return testsNoChoice(part, scope) ? 'choice' : 'other';
  if (sides.some(({ kind }) => kind === 'null')) return 'null';
  const member = caller.segments[1];
  return member === 'type' || member === 'collection' ? member : 'other';
}

function testsNoChoice(part: Expression, { collection, schema }: RuleScope): boolean {
  const resolved = resolve(part, { collection, schema, audience: 'rule', caller: undefined });
  return resolved.kind === 'comparison' && isNoChoice(resolved, collection);
}

/** The index where an expression's first test begins. */
function positionOf(expression: Expression): number {
  const first = (items: readonly Expression[]) => Math.min(...items.map(positionOf));
  return visitExpression(expression, {
    all: first,
    any: first,
    not: positionOf,
    comparison: ({ left, right }) => Math.min(left.position, right.position),
    in: ({ left }) => left.position,
    quantified: ({ position }) => position,
    exists: ({ position }) => position,
  });
}
