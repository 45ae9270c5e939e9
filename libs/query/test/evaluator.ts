import type { Collection } from '@recordbus/schema';
import type { RequestValues } from '../src/index.ts';
import type { Expression, Operand, Test } from '../src/language/ast.ts';
import { parse } from '../src/language/parser.ts';
import { operandsIn } from './operands.ts';
import { type Sides, sidesOf } from './sides.ts';
import { isViewable } from './sight.ts';
import { contains, isEqual, isInOrder, isNull, isSame, itemsOf, typeOf, type Value } from './values.ts';
import type { Item, World } from './world.ts';

/** What an expression is evaluated in. */
export interface Situation {
  readonly world: World;
  readonly collection: Collection;
  readonly record: Item;
  readonly request: RequestValues;
  readonly audience: 'rule' | 'client' | 'admin';
  /** Within `exists`: the outer record's situation. */
  readonly outer?: Situation | undefined;
}

/**
 * A second implementation, independent of the compiler and written from the reference: it evaluates a parsed expression
 * over objects in memory. For expressions that the compiler accepts.
 */
export function evaluate(expression: Expression, situation: Situation, isNegated = false): boolean {
  switch (expression.kind) {
    case 'all':
    case 'any': {
      const verdicts = expression.items.map((item) => evaluate(item, situation, isNegated));
      return (expression.kind === 'all') === isNegated ? verdicts.some(Boolean) : verdicts.every(Boolean);
    }
    case 'not':
      return evaluate(expression.item, situation, !isNegated);
    default:
      return (
        operandsIn(expression).every((operand) => isThere(operand, situation)) &&
        holds(expression, situation) !== isNegated
      );
  }
}

type Leaf = Exclude<Expression, { kind: 'all' | 'any' | 'not' }>;

function holds(leaf: Leaf, situation: Situation): boolean {
  switch (leaf.kind) {
    case 'exists': {
      const { world } = situation;
      const collection = world.collections[leaf.collection];
      if (!collection) throw new Error(`no collection ${leaf.collection}`);
      return (world.records[leaf.collection] ?? []).some((record) => {
        const inner = { ...situation, collection, record, outer: situation };
        return isViewable(inner) && evaluate(leaf.condition, inner);
      });
    }
    case 'quantified': {
      const { test, quantifier } = leaf;
      const { values } = sidesOf(test.left, situation);
      // A test for null is about a list as a whole.
      const left = test.kind === 'comparison' && test.right.kind === 'null' ? values : entriesOf(values);
      const passes = (value: Value) => testHolds(test, { values: [value] }, situation);
      return quantifier === 'all' ? left.every(passes) : !left.some(passes);
    }
    default:
      return testHolds(leaf, sidesOf(leaf.left, situation), situation);
  }
}

/** The values that a quantifier tests: list entries. */
const entriesOf = (values: readonly Value[]): Value[] =>
  values.flatMap((value) =>
    typeOf(value) === 'list' ? itemsOf(value.value).map((entry) => ({ value: entry, type: 'text' as const })) : [value],
  );

/** Holds if some pair of values passes. A negative operator holds if the positive one does not. */
function testHolds(test: Test, left: Pick<Sides, 'values'>, situation: Situation): boolean {
  const operands: readonly Operand[] =
    test.kind === 'comparison' ? [test.right] : 'kind' in test.among ? [test.among] : test.among;
  const right = operands.flatMap((operand) => sidesOf(operand, situation).values);
  const some = (passes: (a: Value, b: Value) => boolean) => left.values.some((a) => right.some((b) => passes(a, b)));
  if (test.kind === 'in') return some(isSame);
  const [a, b] = [levelOf(test.left), levelOf(test.right)];
  const isSameValue = a === undefined || b === undefined || a === b ? isEqual : isSame;
  switch (test.operator) {
    case '=':
      return some(isSameValue);
    case '!=':
      return !some(isSameValue);
    case '~':
      return some(contains);
    case '!~':
      return !some(contains);
    default: {
      const { operator } = test;
      return some((a, b) => isInOrder(operator, a, b));
    }
  }
}

/** How many levels outwards a path begins; undefined for other operands. */
function levelOf(operand: Operand): number | undefined {
  if (operand.kind !== 'path' && operand.kind !== 'distance') return undefined;
  const { segments } = operand.kind === 'path' ? operand : operand.of;
  const level = segments.findIndex((segment) => segment !== 'record');
  return level < 0 ? segments.length - 1 : level;
}

/** Whether the caller has the value, if the operand is one. */
function isThere(operand: Operand, situation: Situation): boolean {
  if (operand.kind === 'count') return isThere(operand.of, situation);
  if (operand.kind !== 'request' || operand.segments[0] !== 'auth') return true;
  const { values, isList, isReached } = sidesOf(operand, situation);
  return isList ? isReached === true : values.some((value) => !isNull(value));
}

/** A sort term's value. */
export function valueAt(term: string, situation: Situation): unknown {
  const { left } = parse(`${term} = 1`) as Extract<Test, { kind: 'comparison' }>;
  return sidesOf(left, situation).values[0]?.value ?? null;
}
