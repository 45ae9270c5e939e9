import type { Decided, NullTest, Resolved, ResolvedComparison, ResolvedExists, Source } from './resolved.ts';

/** A function for each kind of resolved expression. A new kind makes every visitor fail to compile until it has one. */
export interface ResolvedVisitor<Result> {
  all(items: readonly Resolved[]): Result;
  any(items: readonly Resolved[]): Result;
  decided(test: Decided): Result;
  nullTest(test: NullTest): Result;
  comparison(test: ResolvedComparison): Result;
  exists(test: ResolvedExists): Result;
}

/** Calls the visitor's function for the kind of an expression. */
export function visitResolved<Result>(expression: Resolved, visitor: ResolvedVisitor<Result>): Result {
  switch (expression.kind) {
    case 'all':
      return visitor.all(expression.items);
    case 'any':
      return visitor.any(expression.items);
    case 'decided':
      return visitor.decided(expression);
    case 'nullTest':
      return visitor.nullTest(expression);
    case 'comparison':
      return visitor.comparison(expression);
    case 'exists':
      return visitor.exists(expression);
  }
}

export type ResolvedTest = Decided | NullTest | ResolvedComparison | ResolvedExists;

/** Every test of an expression; those within `exists` after it. Guards of clients do not count. */
export function resolvedTestsIn(expression: Resolved): ResolvedTest[] {
  const within = (items: readonly Resolved[]) => items.flatMap(resolvedTestsIn);
  return visitResolved<ResolvedTest[]>(expression, {
    all: within,
    any: within,
    decided: (test) => [test],
    nullTest: (test) => [test],
    comparison: (test) => [test],
    exists: (test) => [test, ...(test.condition ? resolvedTestsIn(test.condition) : [])],
  });
}

/** The values that the tests of an expression compare, each item of `in (…)` included. */
export const sourcesIn = (expression: Resolved): Source[] => resolvedTestsIn(expression).flatMap(sourcesOf);

/** The values that a test itself compares. */
export function sourcesOf(test: ResolvedTest): Source[] {
  if (test.kind === 'nullTest') return itemsOf(test.operand);
  return test.kind === 'comparison' ? [test.left, test.right].flatMap(itemsOf) : [];
}

const itemsOf = (source: Source): Source[] => (source.source === 'several' ? source.items.flatMap(itemsOf) : [source]);
