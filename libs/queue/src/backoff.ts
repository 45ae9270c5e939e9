/** The wait after some failed attempts: doubles from `first` up to `most`. */
export const doubling = (failures: number, first: number, most: number): number =>
  Math.min(first * 2 ** (failures - 1), most);

/** The wait after some failed attempts, from a list; the last one repeats. */
export const listed = (failures: number, waits: readonly number[]): number =>
  waits[Math.min(failures, waits.length) - 1] ?? 0;
