/**
 * After how long without a read an export is cut, in milliseconds. Shorter than the limit of the database's session.
 */
export const stalledMs = 30_000;

/** UTF-16 code units in a part of the answer. A client that takes less than a part in `stalledMs` is cut. */
export const partLength = 65_536;
