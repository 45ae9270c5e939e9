/** Limits of an expression (filters §3). */
export const limits = {
  /** Comparisons, and items of `in (…)`. */
  terms: 200,
  /** Code points of the whole text. */
  characters: 4000,
  /** Parentheses within parentheses. */
  nesting: 32,
  /** Relations that one path follows. */
  hops: 6,
  /** `exists` within `exists`, the outermost included. */
  exists: 3,
  /** Seconds by which a moment is shifted. */
  shiftSec: 100_000_000_000,
  /** Terms of a sort. */
  sortTerms: 8,
} as const;
