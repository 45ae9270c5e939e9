import type { Change } from './change.ts';

/** Changes in stream order, and the sequence number up to which they are complete. */
export interface ChangePart {
  readonly changes: readonly Change[];
  readonly upTo: number;
}

/**
 * How many changes a part may have, and how many bytes if it has more than one change. A part is sent at once, and a
 * client that keeps reading must not have too much unsent after it.
 */
export const partLimit = { changes: 100, bytes: 512 * 1024 } as const;

/** The stream's last changes, in memory. */
export interface RecentChanges {
  /** Everything after this sequence number is in memory. */
  readonly after: number;
  /** The last sequence number that was read. */
  readonly head: number;
  /** Adds the next message; `change` is undefined for an event about no record. */
  append(seq: number, change: Change | undefined): void;
  /** Forgets everything and continues after a sequence number. */
  reset(seq: number): void;
  /** Returns the next part after a sequence number; undefined if it is no longer in memory. */
  read(after: number): ChangePart | undefined;
}

interface Limits {
  readonly changes: number;
  readonly bytes: number;
}

const defaultLimits: Limits = { changes: 10_000, bytes: 64 * 2 ** 20 };

export function createRecentChanges(limits: Limits = defaultLimits): RecentChanges {
  let changes: Change[] = [];
  /** The changes before this index are forgotten. From time to time they are removed together. */
  let first = 0;
  let bytes = 0;
  let after = 0;
  let head = 0;

  function forgetOldest(): void {
    while (changes.length - first > limits.changes || bytes > limits.bytes) {
      const oldest = changes[first];
      if (!oldest) return;
      first += 1;
      bytes -= oldest.bytes;
      after = oldest.seq;
    }
    if (first <= limits.changes) return;
    changes = changes.slice(first);
    first = 0;
  }

  /** Returns the index of the first change after a sequence number. */
  function placeAfter(seq: number): number {
    let [low, high] = [first, changes.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((changes[middle]?.seq ?? 0) <= seq) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  return {
    get after() {
      return after;
    },
    get head() {
      return head;
    },
    append(seq, change) {
      head = seq;
      if (!change) return;
      changes.push(change);
      bytes += change.bytes;
      forgetOldest();
    },
    reset(seq) {
      changes = [];
      first = 0;
      bytes = 0;
      after = seq;
      head = seq;
    },
    read(from) {
      if (from < after) return undefined;
      return partOf(changes, placeAfter(from), head);
    },
  };
}

/** Returns the part of sorted changes that begins at an index. The changes are complete up to `end`. */
export function partOf(changes: readonly Change[], place: number, end: number): ChangePart {
  let bytes = 0;
  let last = place;
  while (last < changes.length && last - place < partLimit.changes) {
    bytes += changes[last]?.bytes ?? 0;
    if (bytes > partLimit.bytes && last > place) break;
    last += 1;
  }
  const part = changes.slice(place, last);
  return { changes: part, upTo: last < changes.length ? (part.at(-1)?.seq ?? end) : end };
}
