import type { RateRule } from '@recordbus/settings';
import { LRUCache } from 'lru-cache';
import { maxCallers, type RateWindow, type RateWindows } from './rate-windows.ts';

/** What became of a request, and what the caller may still do. */
export interface Verdict {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Until the window ends, in whole seconds. */
  readonly resetSec: number;
}

export interface Limiter {
  /** Counts a request of this caller under the rule. Waits for the shared counter only where it has to. */
  count(rule: RateRule, caller: string): Verdict | Promise<Verdict>;
}

/** What this replica knows of a caller's window. */
interface Share {
  /** Which window it is, on the clock of whoever keeps it; 0 before the first answer. */
  windowEndsAtMs: number;
  /** When it ends, on the clock of this process. */
  endsAtMs: number;
  /** What all replicas have taken, as far as is known. */
  used: number;
  /** What this replica has taken and not spent. */
  left: number;
  /** Nothing is left to take. */
  isExhausted: boolean;
  /** Requests that wait for more to be taken. */
  waiting: number;
  asking: Promise<void> | undefined;
}

/**
 * A replica takes a twentieth of a limit at a time, and the next one when half of that is spent: of two replicas the one
 * that is asked less keeps less than a tenth of the limit from the other, and never is more let through than the limit.
 */
const portionsOfALimit = 20;

/**
 * Makes a limiter that counts in these windows; `nowMs` is a clock that never goes back. Rules for `auth`, and small
 * ones, are exact: only what is asked for by a request is taken. There is one question at a time for each caller,
 * whatever the number of its requests, and refusals are decided here: a flood costs the shared counter next to nothing.
 */
export function createLimiter(windows: RateWindows, nowMs: () => number): Limiter {
  const shares = new LRUCache<string, Share>({ max: maxCallers });

  function shareOf(key: string, windowMs: number): Share {
    const now = nowMs();
    const found = shares.get(key);
    if (found && found.endsAtMs > now) return found;
    const begun: Share = {
      windowEndsAtMs: 0,
      endsAtMs: now + windowMs,
      used: 0,
      left: 0,
      isExhausted: false,
      waiting: 0,
      asking: undefined,
    };
    shares.set(key, begun);
    return begun;
  }

  /** Takes what is waited for, at least a portion; one question at a time, shared by all who wait for it. */
  function ask(share: Share, key: string, rule: RateRule, portion: number): Promise<void> {
    share.asking ??= take(share, key, rule, Math.max(portion, share.waiting)).finally(() => {
      share.asking = undefined;
    });
    return share.asking;
  }

  async function take(share: Share, key: string, { max, windowMs }: RateRule, count: number): Promise<void> {
    const window = await windows.take(key, windowMs, count);
    if (share.windowEndsAtMs !== window.endsAtMs) begin(share, window);
    share.used = Math.max(share.used, window.used);
    share.left += Math.max(0, Math.min(count, max - (window.used - count)));
    share.isExhausted ||= window.used >= max;
  }

  /** What was taken of a window ends with it. */
  function begin(share: Share, { leftMs, endsAtMs }: RateWindow): void {
    share.windowEndsAtMs = endsAtMs;
    share.endsAtMs = nowMs() + leftMs;
    share.used = 0;
    share.left = 0;
    share.isExhausted = false;
  }

  async function countAfterAsking(share: Share, key: string, rule: RateRule, portion: number): Promise<Verdict> {
    share.waiting += 1;
    do await ask(share, key, rule, portion);
    while (share.left === 0 && !share.isExhausted);
    share.waiting -= 1;
    return spend(share, rule);
  }

  function spend(share: Share, { max }: RateRule): Verdict {
    const allowed = share.left > 0;
    if (allowed) share.left -= 1;
    const remaining = Math.max(0, max - share.used) + share.left;
    return { allowed, limit: max, remaining, resetSec: Math.max(1, Math.ceil((share.endsAtMs - nowMs()) / 1000)) };
  }

  return {
    count(rule, caller) {
      // A rule that was changed counts anew: what was refused under the old one may be allowed now.
      const key = `${rule.label} ${rule.audience} ${rule.max} ${rule.windowMs} ${caller}`;
      const share = shareOf(key, rule.windowMs);
      const portion = rule.action === 'auth' ? 1 : Math.max(1, Math.floor(rule.max / portionsOfALimit));
      if (share.left === 0 && !share.isExhausted) return countAfterAsking(share, key, rule, portion);
      if (portion > 1 && share.left <= portion / 2 && !share.isExhausted) void ask(share, key, rule, portion);
      return spend(share, rule);
    },
  };
}
