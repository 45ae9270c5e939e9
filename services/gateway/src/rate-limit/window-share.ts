import type { RateWindow } from './rate-windows.ts';

/** Whether a request is allowed, and what remains of the caller's limit. */
export interface Verdict {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Time until the window ends, in whole seconds. */
  readonly resetSec: number;
}

/** This replica's share of a caller's window. */
export interface Share {
  /** Identifies the window: when it ends on the counter owner's clock; 0 before the first answer. */
  windowEndsAtMs: number;
  /** When it ends, on this process's clock. */
  endsAtMs: number;
  /** The total that all replicas had taken at the last answer. */
  used: number;
  /** The part that this replica has taken and not yet spent. */
  left: number;
  /** Whether nothing is left to take. */
  isExhausted: boolean;
  /** How many requests wait for more to be taken. */
  waiting: number;
  /** The current call to the shared counter. */
  taking: Promise<void> | undefined;
}

/** Returns a window's empty share that ends then, on this process's clock. */
export const newShare = (endsAtMs: number): Share => ({
  windowEndsAtMs: 0,
  endsAtMs,
  used: 0,
  left: 0,
  isExhausted: false,
  waiting: 0,
  taking: undefined,
});

interface Taken {
  /** The window after `count` were taken from it. */
  readonly window: RateWindow;
  readonly count: number;
  /** All replicas' limit together. */
  readonly max: number;
  readonly nowMs: number;
}

/** Adds a count that was taken from the window. */
export function addTaken(share: Share, { window, count, max, nowMs }: Taken): void {
  if (share.windowEndsAtMs !== window.endsAtMs) begin(share, window, nowMs);
  share.used = Math.max(share.used, window.used);
  share.left += Math.max(0, Math.min(count, max - (window.used - count)));
  share.isExhausted ||= window.used >= max;
}

/** Begins a new window. Counts taken from the last one are dropped. */
function begin(share: Share, { leftMs, endsAtMs }: RateWindow, nowMs: number): void {
  share.windowEndsAtMs = endsAtMs;
  share.endsAtMs = nowMs + leftMs;
  share.used = 0;
  share.left = 0;
  share.isExhausted = false;
}

/** Spends one from the share, if there is one. */
export function spend(share: Share, max: number, nowMs: number): Verdict {
  const allowed = share.left > 0;
  if (allowed) share.left -= 1;
  const remaining = Math.max(0, max - share.used) + share.left;
  return { allowed, limit: max, remaining, resetSec: Math.max(1, Math.ceil((share.endsAtMs - nowMs) / 1000)) };
}
