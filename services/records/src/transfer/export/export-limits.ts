/** When an export is cut whose client takes nothing of it, in milliseconds. Below the limit of the database's session. */
export const stalledMs = 30_000;

/** UTF-16 code units of a part of the answer: a client that takes less than a part in `stalledMs` is cut. */
export const partLength = 65_536;
