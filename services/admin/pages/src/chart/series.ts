/** A series' colour. */
export type SeriesTone = 'accent' | 'success' | 'warning' | 'danger' | 'quiet';

/** A named list of values, one for each time in a chart. Null leaves a gap. */
export interface Series {
  readonly name: string;
  readonly tone: SeriesTone;
  readonly values: readonly (number | null)[];
}

/** Returns the largest value to draw: a stack's height, or a single value. */
export function largestOf(series: readonly Series[], isStacked: boolean): number {
  const count = series[0]?.values.length ?? 0;
  let largest = 0;
  for (let index = 0; index < count; index += 1) {
    const values = series.map(({ values }) => values[index] ?? 0);
    largest = Math.max(largest, isStacked ? values.reduce((sum, one) => sum + one, 0) : Math.max(...values));
  }
  return largest;
}

/** Returns the round number at or above a value, for an axis's upper end. */
export function roundUp(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 2.5, 5, 10].find((one) => one * power >= value) ?? 10;
  return step * power;
}

/** Returns a line's path. Missing values leave gaps. */
export function linePath(
  values: readonly (number | null)[],
  x: (index: number) => number,
  y: (value: number) => number,
): string {
  let path = '';
  let isDrawing = false;
  values.forEach((value, index) => {
    if (value === null) isDrawing = false;
    else {
      path += `${isDrawing ? 'L' : 'M'}${x(index).toFixed(1)} ${y(value).toFixed(1)}`;
      isDrawing = true;
    }
  });
  return path;
}

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** Formats a number briefly, such as `1.2K`. */
export const shortNumber = (value: number): string => compact.format(value);

/** Formats a duration in milliseconds, such as `1.5 s`. */
export const shortMs = (ms: number): string =>
  ms >= 1000 ? `${Number((ms / 1000).toPrecision(2))} s` : `${Number(ms.toPrecision(2))} ms`;
