/** What a write needs from the database, least first. `hooked` is one of the few transactions in which hooks run. */
const modes = ['statement', 'transaction', 'hooked'] as const;
export type WriteMode = (typeof modes)[number];

/** The widest of the given modes: all can run in it. */
export const widestMode = (...wanted: readonly WriteMode[]): WriteMode =>
  modes.findLast((mode) => wanted.includes(mode)) ?? 'statement';
