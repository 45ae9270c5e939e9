/**
 * A CTE `verdict`, with the comma behind it, of whether a rule (a condition on the row `old`) holds for the one row of
 * the relation `old`; nothing without a rule. Such a row is locked and as it is now, so the verdict is about the very
 * version that is written on.
 */
export const ruleVerdict = (rule: string | undefined): string =>
  rule === undefined
    ? ''
    : `verdict as materialized (
  select (${rule}) is true as allowed from old
), `;
