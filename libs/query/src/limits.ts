/** Limits for an expression (filters §3). */
export const limits = {
  /** Comparisons. `in (…)` is one; each item that is not a literal is another one. */
  terms: 200,
  /** Items in all `in (…)` together. */
  items: 1000,
  /** Code points outside the items of `in (…)`. */
  characters: 4000,
  /** Code points in the whole text: 1,000 UUIDs with their quotes take 39,000. */
  charactersWithItems: 65_536,
  /** Parentheses within parentheses. */
  nesting: 32,
  /** Relations that one path follows. */
  hops: 6,
  /** `exists` within `exists`, the outermost included. */
  exists: 3,
  /** Seconds by which a moment is shifted. */
  shiftSec: 100_000_000_000,
  /** Sort terms. */
  sortTerms: 8,
} as const;
