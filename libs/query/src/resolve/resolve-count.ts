import type { Resolved, ResolvedComparison, Source } from './resolved.ts';

/**
 * Turns a comparison that only tests whether a count is 0 (`count(…) > 0`) into an existence test, which stops at the
 * first record and may use the related collection's index.
 */
export function resolveCount(resolved: Resolved): Resolved {
  if (resolved.kind !== 'comparison') return resolved;
  const { left, right, isNegated } = resolved;
  const [count, bound] = left.source === 'count' ? [left, numberOf(right)] : [right, numberOf(left)];
  if (count.source !== 'count' || bound === undefined) return resolved;
  if (count.account || count.countsEntries) return resolved;
  const holds = (n: number) => (left === count ? compare(resolved, n, bound) : compare(resolved, bound, n));
  // True if the verdict is the same for every count from 1 on.
  const isAboutNone = holds(0) !== holds(1) && holds(1) === holds(Number.POSITIVE_INFINITY);
  if (!isAboutNone) return resolved;
  return { kind: 'exists', isNegated: holds(1) === isNegated, from: count.of, condition: undefined };
}

const numberOf = (source: Source): number | undefined =>
  source.source === 'constant' && typeof source.value === 'number' ? source.value : undefined;

function compare({ operator }: Pick<ResolvedComparison, 'operator'>, a: number, b: number): boolean {
  switch (operator) {
    case '>':
      return a > b;
    case '>=':
      return a >= b;
    case '<':
      return a < b;
    case '<=':
      return a <= b;
    case '=':
      return a === b;
    default:
      return false;
  }
}
