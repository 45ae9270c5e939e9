/** Up to this many columns are all drawn, each as wide as its values. */
const maxDrawn = 16;

/** Columns come and go in steps, so that few pixels of scrolling change nothing. */
const step = 4;

/** Columns beyond the edges that are drawn too. The columns that stay in place take less room than these. */
const beyond = 2;

/** The columns of a grid that are drawn, from 0, the last one not included. */
export interface ColumnsInView {
  readonly from: number;
  readonly until: number;
}

/** Whether a grid with this many columns draws only those in view, all of one width. */
export const drawsPart = (count: number): boolean => count > maxDrawn;

/** Returns the columns to draw in a frame of a width that is scrolled. All lengths are in widths of a column. */
export function columnsInView(count: number, scrolled: number, width: number): ColumnsInView {
  if (!drawsPart(count)) return { from: 0, until: count };
  const from = Math.floor((scrolled - beyond) / step) * step;
  const until = Math.ceil((scrolled + width + beyond) / step) * step;
  return { from: Math.max(0, Math.min(from, count - 1)), until: Math.min(count, Math.max(until, 1)) };
}
