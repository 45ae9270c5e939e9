import { hash } from 'node:crypto';

/** An erased record, as the set takes it. */
export interface ErasedRow {
  readonly collectionId: string;
  readonly recordId: string;
  /** Milliseconds since the epoch. */
  readonly erasedAtMs: number;
}

/**
 * Erased records with their times, 25 to 50 bytes each: a retention may erase a million. Ids are kept as 64 bits of a hash, and
 * collections' ids as 32 bits.
 */
export interface ErasedSet {
  readonly size: number;
  /** How many bytes the set holds. */
  readonly bytes: number;
  /** The earliest time in the set, in milliseconds since the epoch; infinite while it is empty. */
  readonly earliestMs: number;
  /** Adds records. Of a record that is there already, the later time counts. */
  add(rows: readonly ErasedRow[]): void;
  /** Whether a record was erased at a time or later; without a collection's id in any. */
  isErasedSince(record: { readonly collectionId: string | undefined; readonly id: string }, timeMs: number): boolean;
  /** Drops records that were erased before a time. */
  dropBefore(timeMs: number): void;
}

/** How full the table may be. */
const maxLoad = 0.8;

/** Creates an empty set. */
export function createErasedSet(): ErasedSet {
  // Open addressing. A slot is free while its time is 0.
  let capacity = 16;
  let slots = createSlots(capacity);
  let size = 0;
  let earliestMs = Number.POSITIVE_INFINITY;

  /** The slot of a record: the first one with its keys, or a free one. */
  function slotOf(into: Slots, high: number, low: number, collection: number): number {
    const mask = into.times.length - 1;
    for (let slot = low & mask; ; slot = (slot + 1) & mask) {
      if (into.times[slot] === 0) return slot;
      if (into.lows[slot] === low && into.highs[slot] === high && into.collections[slot] === collection) return slot;
    }
  }

  function put(into: Slots, high: number, low: number, collection: number, timeMs: number): boolean {
    const slot = slotOf(into, high, low, collection);
    const isNew = into.times[slot] === 0;
    into.highs[slot] = high;
    into.lows[slot] = low;
    into.collections[slot] = collection;
    into.times[slot] = Math.max(into.times[slot] ?? 0, timeMs);
    return isNew;
  }

  /** Moves the records from a time on into a table with room for as many. */
  function rebuild(atLeast: number, fromMs = 0): void {
    capacity = 16;
    while (capacity * maxLoad < atLeast) capacity *= 2;
    const into = createSlots(capacity);
    let kept = 0;
    earliestMs = Number.POSITIVE_INFINITY;
    for (let slot = 0; slot < slots.times.length; slot += 1) {
      const timeMs = slots.times[slot] ?? 0;
      if (timeMs === 0 || timeMs < fromMs) continue;
      put(into, slots.highs[slot] ?? 0, slots.lows[slot] ?? 0, slots.collections[slot] ?? 0, timeMs);
      earliestMs = Math.min(earliestMs, timeMs);
      kept += 1;
    }
    size = kept;
    slots = into;
  }

  return {
    get size() {
      return size;
    },
    get bytes() {
      return capacity * bytesOfSlot;
    },
    get earliestMs() {
      return earliestMs;
    },
    add(rows) {
      if (size + rows.length > capacity * maxLoad) rebuild(size + rows.length);
      for (const { collectionId, recordId, erasedAtMs } of rows) {
        const [high, low] = keyOf(recordId);
        if (put(slots, high, low, collectionKey(collectionId), erasedAtMs)) size += 1;
        earliestMs = Math.min(earliestMs, erasedAtMs);
      }
    },
    isErasedSince({ collectionId, id }, timeMs) {
      if (size === 0) return false;
      const [high, low] = keyOf(id);
      const collection = collectionId === undefined ? undefined : collectionKey(collectionId);
      const mask = capacity - 1;
      for (let slot = low & mask; slots.times[slot] !== 0; slot = (slot + 1) & mask) {
        const isRecord =
          slots.lows[slot] === low &&
          slots.highs[slot] === high &&
          (collection === undefined || slots.collections[slot] === collection);
        if (isRecord && timeMs <= (slots.times[slot] ?? 0)) return true;
      }
      return false;
    },
    dropBefore(timeMs) {
      if (earliestMs < timeMs) rebuild(size, timeMs);
    },
  };
}

interface Slots {
  readonly highs: Uint32Array;
  readonly lows: Uint32Array;
  readonly collections: Uint32Array;
  readonly times: Float64Array;
}

const bytesOfSlot = 20;

const createSlots = (capacity: number): Slots => ({
  highs: new Uint32Array(capacity),
  lows: new Uint32Array(capacity),
  collections: new Uint32Array(capacity),
  times: new Float64Array(capacity),
});

function keyOf(text: string): readonly [high: number, low: number] {
  const digest = hash('sha1', text, 'buffer');
  return [digest.readUInt32LE(0), digest.readUInt32LE(4)];
}

const collectionKeys = new Map<string, number>();

/** Collections are few, so their keys are kept. */
function collectionKey(collectionId: string): number {
  const known = collectionKeys.get(collectionId) ?? keyOf(collectionId)[0];
  if (collectionKeys.size >= 10_000) collectionKeys.clear();
  collectionKeys.set(collectionId, known);
  return known;
}
