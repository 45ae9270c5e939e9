import type { Cte } from '@recordbus/journal';
import type { Parameters } from '@recordbus/query';

/** Compiles a rule to SQL and adds its values to the parameters of the statement. */
export type CompileRule = (parameters: Parameters) => string;

/**
 * The CTE `verdict`: whether a rule, a condition on the row `old`, holds for the one row of the CTE `old`; undefined
 * without a rule. That row is locked and current, so the verdict is about the version that is written (rules §3.1).
 */
export const ruleVerdict = (rule: string | undefined): Cte | undefined =>
  rule === undefined
    ? undefined
    : { name: 'verdict', sql: `select (${rule}) is true as allowed from old`, isMaterialized: true };
