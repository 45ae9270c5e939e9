import type { Exists, Expression, Operand, Test } from './ast.ts';

/** A test, and the collections whose `exists` are around it, from the outermost. */
export interface PlacedTest {
  readonly test: Test;
  readonly within: readonly string[];
}

/** An operand, and the collections whose `exists` are around it, from the outermost. */
export interface PlacedOperand {
  readonly operand: Operand;
  readonly within: readonly string[];
}

/** Every test of an expression. */
export function testsIn(expression: Expression, within: readonly string[] = []): PlacedTest[] {
  switch (expression.kind) {
    case 'all':
    case 'any':
      return expression.items.flatMap((item) => testsIn(item, within));
    case 'not':
      return testsIn(expression.item, within);
    case 'quantified':
      return testsIn(expression.test, within);
    case 'exists':
      return testsIn(expression.condition, [...within, expression.collection]);
    default:
      return [{ test: expression, within }];
  }
}

/** Every `exists` of an expression. */
export function existsIn(expression: Expression): Exists[] {
  switch (expression.kind) {
    case 'all':
    case 'any':
      return expression.items.flatMap(existsIn);
    case 'not':
      return existsIn(expression.item);
    case 'exists':
      return [expression, ...existsIn(expression.condition)];
    default:
      return [];
  }
}

/** Every operand of an expression: of both sides of each test, paths within functions included. */
export const operandsIn = (expression: Expression): PlacedOperand[] =>
  testsIn(expression).flatMap(({ test, within }) =>
    sidesOf(test)
      .flatMap(withInner)
      .map((operand) => ({ operand, within })),
  );

/** The operands on both sides of a test. */
export function sidesOf(test: Test): Operand[] {
  if (test.kind === 'comparison') return [test.left, test.right];
  return [test.left, ...('kind' in test.among ? [test.among] : test.among)];
}

const withInner = (operand: Operand): Operand[] =>
  operand.kind === 'count' || operand.kind === 'distance' ? [operand, operand.of] : [operand];
