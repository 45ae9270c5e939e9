import { callersIn } from '../resolve/caller-values.ts';
import type { Resolved, ResolvedComparison, ResolvedExists, Source } from '../resolve/resolved.ts';
import { resolvedTestsIn, sourcesOf } from '../resolve/visit-resolved.ts';
import { presenceOf } from './caller-sql.ts';
import { compile } from './compile.ts';
import type { SqlTarget } from './sql-target.ts';

/** The rows for which an expression does not hold: it holds for all others if the gate does, and else for none. */
export interface Excluded {
  /** The condition on an excluded row; false or null for the others. */
  readonly condition: string;
  /** A condition on the request alone, false or null where it does not hold. */
  readonly gate: string;
}

/**
 * Compiles an expression's exclusions if one negated test decides about the row (`@request.auth.id != "" && status !=
 * "archived"`): few rows may satisfy them, and an index may find those. Undefined for any other expression.
 */
export function excludedSql(expression: Resolved, into: SqlTarget): Excluded | undefined {
  const items = expression.kind === 'all' ? expression.items : [expression];
  const [test, ...others] = items.filter(readsRow);
  if (!test || others.length > 0 || !isNegated(test)) return undefined;
  const gates = items.filter((item) => item !== test).map((item) => compile(item, into));
  const callers = callersIn(test).map((source) => presenceOf(source, into).sql);
  return {
    condition: compile({ ...test, isNegated: false }, into),
    gate: ['true', ...gates, ...new Set(callers)].join(' and '),
  };
}

const isNegated = (test: Resolved): test is ResolvedComparison | ResolvedExists =>
  (test.kind === 'comparison' || test.kind === 'exists') && test.isNegated;

/** Whether the result may differ between rows. */
const readsRow = (expression: Resolved): boolean =>
  resolvedTestsIn(expression).some((test) => test.kind === 'exists' || sourcesOf(test).some(isOfRow));

const isOfRow = (source: Source): boolean =>
  source.source === 'column' ||
  source.source === 'changed' ||
  (source.source === 'count' && source.account === undefined);
