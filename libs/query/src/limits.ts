/** Limits of an expression (filters §3). */
export const limits = {
  /** Comparisons. */
  terms: 200,
  /** Code points of the whole text. */
  characters: 4000,
  /** Parentheses within parentheses. */
  nesting: 32,
  /** Relations that one path follows. */
  hops: 6,
  /** Terms of a sort. */
  sortTerms: 8,
} as const;
