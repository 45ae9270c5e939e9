import { callersIn } from './caller-values.ts';
import type { Resolved } from './resolved.ts';

/**
 * Returns the expression that holds exactly where a negated test does not; undefined for any other expression. A test
 * that reads the caller has none: neither form holds for callers without the value.
 */
export function findOpposite(expression: Resolved): Resolved | undefined {
  if (expression.kind !== 'comparison' && expression.kind !== 'exists') return undefined;
  if (!expression.isNegated || callersIn(expression).length > 0) return undefined;
  return { ...expression, isNegated: false };
}
