/**
 * How long all hooks for a write may take, including those for the writes that it causes. Rows are locked meanwhile.
 */
export const hooksBudgetMs = 5000;
