/** How long all hooks of a write may take, including those of the writes that it causes. Rows are locked meanwhile. */
export const hooksBudgetMs = 5000;
