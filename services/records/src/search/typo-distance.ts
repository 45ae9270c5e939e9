/**
 * How many letters must be added, removed, replaced or exchanged with their neighbours to make one word out of the other
 * (optimal string alignment); more than `most` if there are more.
 */
export function typoDistance(a: readonly string[], b: readonly string[], most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      const isExchanged = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      next[j] = Math.min(
        at(row, j) + 1,
        at(next, j - 1) + 1,
        at(row, j - 1) + cost,
        isExchanged ? at(before, j - 2) + 1 : most + 1,
      );
    }
    if (Math.min(...next) > most) return most + 1;
    [before, row] = [row, next];
  }
  return at(row, b.length);
}

/** The type of an element says that it may be missing. */
const at = (row: readonly number[], index: number): number => row[index] ?? Number.POSITIVE_INFINITY;
