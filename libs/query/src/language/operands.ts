import type { Exists, Expression, Operand, Test } from './ast.ts';
import { visitExpression } from './visit-expression.ts';

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

/** Every test in an expression. */
export function testsIn(expression: Expression, within: readonly string[] = []): PlacedTest[] {
  const here = (test: Test): PlacedTest[] => [{ test, within }];
  const inEach = (items: readonly Expression[]) => items.flatMap((item) => testsIn(item, within));
  return visitExpression(expression, {
    all: inEach,
    any: inEach,
    not: (item) => testsIn(item, within),
    comparison: here,
    in: here,
    quantified: ({ test }) => here(test),
    exists: ({ condition, collection }) => testsIn(condition, [...within, collection]),
  });
}

/** Every `exists` in an expression. */
export function existsIn(expression: Expression): Exists[] {
  const inEach = (items: readonly Expression[]) => items.flatMap(existsIn);
  return visitExpression<Exists[]>(expression, {
    all: inEach,
    any: inEach,
    not: existsIn,
    comparison: () => [],
    in: () => [],
    quantified: () => [],
    exists: (exists) => [exists, ...existsIn(exists.condition)],
  });
}

/** Every operand in an expression: on both sides of each test, paths within functions included. */
export const operandsIn = (expression: Expression): PlacedOperand[] =>
  testsIn(expression).flatMap(({ test, within }) =>
    sidesOf(test)
      .flatMap(withInner)
      .map((operand) => ({ operand, within })),
  );

/** The operands on a test's two sides. */
export function sidesOf(test: Test): Operand[] {
  if (test.kind === 'comparison') return [test.left, test.right];
  return [test.left, ...('kind' in test.among ? [test.among] : test.among)];
}

const withInner = (operand: Operand): Operand[] =>
  operand.kind === 'count' || operand.kind === 'distance' ? [operand, operand.of] : [operand];
