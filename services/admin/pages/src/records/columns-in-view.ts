/** Up to this many columns are all drawn, each as wide as its content. */
const maxDrawn = 16;

/** Columns are added and removed in steps, so that small scrolls redraw nothing. */
const step = 4;

/** How many columns to draw beyond each edge. Wider than the sticky columns. */
const beyond = 2;

/** The range of drawn columns, from 0, without the last one. */
export interface ColumnsInView {
  readonly from: number;
  readonly until: number;
}

/** Whether a grid with this many columns draws only those in view, all with the same width. */
export const drawsPart = (count: number): boolean => count > maxDrawn;

/** Returns the columns to draw in a scrolled frame. All lengths are in column widths. */
export function columnsInView(count: number, scrolled: number, width: number): ColumnsInView {
  if (!drawsPart(count)) return { from: 0, until: count };
  const from = Math.floor((scrolled - beyond) / step) * step;
  const until = Math.ceil((scrolled + width + beyond) / step) * step;
  return { from: Math.max(0, Math.min(from, count - 1)), until: Math.min(count, Math.max(until, 1)) };
}
