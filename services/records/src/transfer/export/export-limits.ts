/** After how long without a read an export is cut, in milliseconds. Shorter than the database session's limit. */
export const stalledMs = 30_000;

/**
 * While others wait for an export connection, a client that has kept its export waiting for `graceMs` must have taken
 * it at this pace on average: 128 KiB in a second.
 */
export const graceMs = 4000;
export const minBytesPerMs = 131;

/** How often an export that waits for its client asks whether others wait, in milliseconds. */
export const checkMs = 500;

/** UTF-16 code units in one part of the answer. A client that takes less than a part in `stalledMs` is cut. */
export const partLength = 65_536;
