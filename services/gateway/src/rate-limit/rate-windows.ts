import { LRUCache } from 'lru-cache';

/** A window after something was counted in it. */
export interface RateWindow {
  /** All that was counted in it, this time included. */
  readonly used: number;
  /** Until it ends, in milliseconds. */
  readonly leftMs: number;
  /** When it ends, on the clock of whoever keeps it: no two windows of a key end at the same time. */
  readonly endsAtMs: number;
}

/** Counters that begin with their first request and end a fixed time after it. */
export interface RateWindows {
  /** Counts so many more under the key, in its window or in a new one of this length. */
  take(key: string, windowMs: number, count: number): Promise<RateWindow>;
}

/** Callers that are remembered; beyond them the one that was heard of longest ago is forgotten. */
export const maxCallers = 50_000;

/** Counters in the memory of this process, which go on from what others have counted. */
export interface OwnWindows extends RateWindows {
  /** Takes over what is counted elsewhere. */
  follow(key: string, window: RateWindow): void;
}

/** Makes them; `nowMs` is a clock that never goes back. */
export function createOwnWindows(nowMs: () => number): OwnWindows {
  const windows = new LRUCache<string, { used: number; readonly endsAtMs: number }>({ max: maxCallers });
  return {
    follow(key, { used, leftMs }) {
      windows.set(key, { used, endsAtMs: nowMs() + leftMs });
    },
    async take(key, windowMs, count) {
      const now = nowMs();
      let window = windows.get(key);
      if (!window || window.endsAtMs <= now) {
        window = { used: 0, endsAtMs: now + windowMs };
        windows.set(key, window);
      }
      window.used += count;
      return { used: window.used, leftMs: window.endsAtMs - now, endsAtMs: window.endsAtMs };
    },
  };
}
