/** Returns the value that the given part (0 to 1) of the samples does not exceed; NaN without samples. */
export function quantile(sorted: ArrayLike<number>, part: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? Number.NaN;
}

/** Returns the median; the lower one of two middle values. */
export const median = (values: readonly number[]): number =>
  quantile(
    [...values].sort((a, b) => a - b),
    0.5,
  );

export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

/** Returns percentiles over all samples together. */
export function percentiles(samples: readonly ArrayLike<number>[]): Percentiles {
  const sorted = Float64Array.from(samples.flatMap((some) => Array.from(some))).sort();
  return { p50: quantile(sorted, 0.5), p95: quantile(sorted, 0.95), p99: quantile(sorted, 0.99) };
}
