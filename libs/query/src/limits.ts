/** Limits of an expression (filters §3). */
export const limits = {
  /** Comparisons. `in (…)` is one; an item of it that is not a literal is another one. */
  terms: 200,
  /** Items of all `in (…)` together. */
  items: 1000,
  /** Code points outside of the items of `in (…)`. */
  characters: 4000,
  /** Code points of the whole text: 1,000 UUIDs with their quotes take 39,000. */
  charactersWithItems: 65_536,
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
