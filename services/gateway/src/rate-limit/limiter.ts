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
  asking: Promise<void> | undefined;
}

/**
 * A replica takes a twentieth of a limit at a time, and the next one when half of that is spent: of two replicas the one
 * that is asked less keeps less than a tenth of the limit from the other, and never is more let through than the limit.
 */
const portionsOfALimit = 20;

/**
 * Makes a limiter that counts in these windows; `nowMs` is a clock that never goes back. Rules for `auth`, and small
 * ones, are exact: each request is counted where all replicas count. Refusals are decided here, so that a flood of
 * requests costs the shared counter nothing once its limit is reached.
 */
export function createLimiter(windows: RateWindows, nowMs: () => number): Limiter {
  const shares = new LRUCache<string, Share>({ max: maxCallers });

  function shareOf(key: string, windowMs: number): Share {
    const now = nowMs();
    const found = shares.get(key);
    if (found && found.endsAtMs > now) return found;
    const begun = { windowEndsAtMs: 0, endsAtMs: now + windowMs, used: 0, left: 0, isExhausted: false };
    const share: Share = { ...begun, asking: undefined };
    shares.set(key, share);
    return share;
  }

  /** Takes up to `count` of the limit and says how many there were. */
  async function take(share: Share, key: string, { max, windowMs }: RateRule, count: number): Promise<number> {
    const window = await windows.take(key, windowMs, count);
    const granted = Math.max(0, Math.min(count, max - (window.used - count)));
    note(share, window, granted < count || window.used >= max);
    return granted;
  }

  function note(share: Share, { used, leftMs, endsAtMs }: RateWindow, isExhausted: boolean): void {
    if (share.windowEndsAtMs !== endsAtMs) {
      // What was taken of a window ends with it.
      Object.assign(share, { windowEndsAtMs: endsAtMs, endsAtMs: nowMs() + leftMs, used: 0, left: 0 });
      share.isExhausted = false;
    }
    share.used = Math.max(share.used, used);
    share.isExhausted ||= isExhausted;
  }

  /** Takes the next portion; one question at a time, shared by all who wait for it. */
  function ask(share: Share, key: string, rule: RateRule, portion: number): Promise<void> {
    share.asking ??= take(share, key, rule, portion)
      .then((granted) => {
        share.left += granted;
      })
      .finally(() => {
        share.asking = undefined;
      });
    return share.asking;
  }

  function verdict(allowed: boolean, share: Share, { max }: RateRule): Verdict {
    const remaining = allowed ? Math.max(0, max - share.used) + share.left : 0;
    return { allowed, limit: max, remaining, resetSec: Math.max(1, Math.ceil((share.endsAtMs - nowMs()) / 1000)) };
  }

  async function countExactly(share: Share, key: string, rule: RateRule): Promise<Verdict> {
    const granted = await take(share, key, rule, 1);
    return verdict(granted === 1, share, rule);
  }

  async function countAfterAsking(share: Share, key: string, rule: RateRule, portion: number): Promise<Verdict> {
    while (share.left === 0 && !share.isExhausted) await ask(share, key, rule, portion);
    return spend(share, rule);
  }

  function spend(share: Share, rule: RateRule): Verdict {
    const allowed = share.left > 0;
    if (allowed) share.left -= 1;
    return verdict(allowed, share, rule);
  }

  return {
    count(rule, caller) {
      // A rule that was changed counts anew: what was refused under the old one may be allowed now.
      const key = `${rule.label} ${rule.audience} ${rule.max} ${rule.windowMs} ${caller}`;
      const share = shareOf(key, rule.windowMs);
      if (share.left === 0 && share.isExhausted) return verdict(false, share, rule);
      const portion = Math.floor(rule.max / portionsOfALimit);
      if (rule.action === 'auth' || portion < 2) return countExactly(share, key, rule);
      if (share.left === 0) return countAfterAsking(share, key, rule, portion);
      if (share.left <= portion / 2 && !share.isExhausted) void ask(share, key, rule, portion);
      return spend(share, rule);
    },
  };
}
