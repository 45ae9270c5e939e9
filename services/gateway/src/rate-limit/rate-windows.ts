import type { CountedWindow } from '@recordbus/rate-limits';
import { LRUCache } from 'lru-cache';

/** A window after a count. */
export type RateWindow = CountedWindow;

/** Counters whose windows begin with the first request and end a fixed time later. */
export interface RateWindows {
  /** Adds `count` under the key, in its current window or in a new one with `windowMs`. */
  take(key: string, windowMs: number, count: number): Promise<RateWindow>;
}

/** How many callers are in memory; beyond it the least recently seen one is dropped. */
export const maxCallers = 50_000;

/** Counters in this process's memory, which continue from the shared counts. */
export interface OwnWindows extends RateWindows {
  /** Copies the shared count. */
  follow(key: string, window: RateWindow): void;
}

/** Creates counters in memory; `nowMs` is a monotonic clock. */
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
