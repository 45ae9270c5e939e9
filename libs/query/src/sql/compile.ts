import { callersIn } from '../resolve/caller-values.ts';
import type { Resolved, ResolvedComparison, ResolvedExists } from '../resolve/resolved.ts';
import { visitResolved } from '../resolve/visit-resolved.ts';
import { presenceOf } from './caller-sql.ts';
import { compareSql } from './compare-sql.ts';
import { existsSql } from './exists-sql.ts';
import { nullTest } from './null-sql.ts';
import { and, type Predicate } from './predicate.ts';
import type { SqlTarget } from './sql-target.ts';

/**
 * Compiles an expression to an SQL condition. It is true where the expression holds, otherwise false or null. That fits
 * WHERE, ON, FILTER and CASE WHEN; elsewhere it needs `is true`. All values are parameters.
 */
export function compile(expression: Resolved, into: SqlTarget): string {
  const join = (items: readonly Resolved[], by: 'and' | 'or') =>
    `(${items.map((item) => compile(item, into)).join(` ${by} `)})`;
  return visitResolved(expression, {
    all: (items) => join(items, 'and'),
    any: (items) => join(items, 'or'),
    decided: ({ holds }) => String(holds),
    nullTest: (test) => nullTest(test, into).sql,
    comparison: (test) => ofPresent(test, into, compareSql(test, into)).sql,
    exists: (test) => ofPresent(test, into, existsSql(test, into)).sql,
  });
}

/** The test for callers who have every value that it reads (rules §4.4). */
function ofPresent(test: ResolvedComparison | ResolvedExists, into: SqlTarget, found: Predicate): Predicate {
  if (!needsPresence(test)) return found;
  const present = new Map(
    callersIn(test)
      .map((source) => presenceOf(source, into))
      .map((it) => [it.sql, it]),
  );
  return [...present.values()].reduce((held, it) => and(it, held), found);
}

/** Whether the test may hold if a caller value is null. A count is then 0. */
const needsPresence = (test: ResolvedComparison | ResolvedExists): boolean =>
  test.kind === 'exists' ||
  test.isNegated ||
  test.negatesValue ||
  [test.left, test.right].some(({ source }) => source === 'several' || source === 'count');
