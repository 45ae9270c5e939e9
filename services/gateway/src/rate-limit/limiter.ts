import { windowKey } from '@recordbus/rate-limits';
import type { RateRule } from '@recordbus/settings';
import { LRUCache } from 'lru-cache';
import { maxCallers, type RateWindows } from './rate-windows.ts';
import { addTaken, newShare, type Share, spend, type Verdict } from './window-share.ts';

export interface Limiter {
  /** Counts this caller's request under the rule. Returns a promise only when it has to wait for the shared counter. */
  count(rule: RateRule, caller: string): Verdict | Promise<Verdict>;
}

/**
 * A replica takes a twentieth of a limit at a time, and the next one when half is spent. With two replicas, the less
 * busy one withholds less than a tenth of the limit from the other; together they never allow more than the limit.
 */
const portionsPerLimit = 20;

/**
 * Creates a limiter that counts in these windows; `nowMs` is a monotonic clock. Small limits and rules for
 * `auth` are exact: each request takes its own count. Each caller has at most one call to the shared counter in
 * progress, and refusals are decided in memory, so a flood costs the shared counter next to nothing.
 */
export function createLimiter(windows: RateWindows, nowMs: () => number): Limiter {
  const shares = new LRUCache<string, Share>({ max: maxCallers });

  function shareOf(key: string, windowMs: number): Share {
    const now = nowMs();
    const found = shares.get(key);
    if (found && found.endsAtMs > now) return found;
    const begun = newShare(now + windowMs);
    shares.set(key, begun);
    return begun;
  }

  /** Takes enough for all waiting requests, at least a portion. Callers share the current call. */
  function takeMore(share: Share, key: string, rule: RateRule, portion: number): Promise<void> {
    share.taking ??= take(share, key, rule, Math.max(portion, share.waiting)).finally(() => {
      share.taking = undefined;
    });
    return share.taking;
  }

  async function take(share: Share, key: string, { max, windowMs }: RateRule, count: number): Promise<void> {
    const window = await windows.take(key, windowMs, count);
    addTaken(share, { window, count, max, nowMs: nowMs() });
  }

  async function countAfterTaking(share: Share, key: string, rule: RateRule, portion: number): Promise<Verdict> {
    share.waiting += 1;
    do await takeMore(share, key, rule, portion);
    while (share.left === 0 && !share.isExhausted);
    share.waiting -= 1;
    return spend(share, rule.max, nowMs());
  }

  return {
    count(rule, caller) {
      const key = windowKey(rule, caller);
      const share = shareOf(key, rule.windowMs);
      const portion = rule.action === 'auth' ? 1 : Math.max(1, Math.floor(rule.max / portionsPerLimit));
      if (share.left === 0 && !share.isExhausted) return countAfterTaking(share, key, rule, portion);
      if (portion > 1 && share.left <= portion / 2 && !share.isExhausted) void takeMore(share, key, rule, portion);
      return spend(share, rule.max, nowMs());
    },
  };
}
