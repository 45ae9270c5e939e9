/** The wait before the next attempt, by how many have failed. */
export type Backoff = (failures: number) => number;

/** Doubles from `first` up to `most`. */
export const doubling =
  (first: number, most: number): Backoff =>
  (failures) =>
    Math.min(first * 2 ** (failures - 1), most);

/** Waits as listed; the last wait repeats. */
export const listed =
  (...waits: readonly [number, ...number[]]): Backoff =>
  (failures) =>
    waits[failures - 1] ?? waits.at(-1) ?? 0;

/** Grows by `step` with each failure. */
export const growing =
  (step: number): Backoff =>
  (failures) =>
    step * failures;
