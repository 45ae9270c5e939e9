import { doubling } from '@recordbus/queue';
import { readDateText } from '@recordbus/text/date-text';

/** A webhook's retry options. */
interface RetryPlan {
  /** Attempts after the first one. */
  readonly retryMax: number;
  readonly backoff: 'exponential' | 'fixed';
  readonly baseDelayMs: number;
}

const dayMs = 24 * 3600 * 1000;
/** Longer delays get a jitter, which only lengthens them; shorter ones stay exact. */
const jitterFromMs = 10_000;
const jitterShare = 0.1;
const retryAfterMaxMs = 3600 * 1000;

/**
 * Returns the wait before the next attempt in milliseconds; undefined when no attempt is left. The receiver's
 * Retry-After is a lower bound. Doubling ends at a day, or at the base delay if that is longer.
 */
export function nextDelayMs(
  plan: RetryPlan,
  recordedAttempts: number,
  retryAfterMs = 0,
  random = Math.random,
): number | undefined {
  if (recordedAttempts > plan.retryMax) return undefined;
  const { backoff, baseDelayMs } = plan;
  const maxMs = Math.max(dayMs, baseDelayMs);
  const delayMs = backoff === 'fixed' ? baseDelayMs : doubling(recordedAttempts, baseDelayMs, maxMs);
  const jitterMs = delayMs >= jitterFromMs ? delayMs * jitterShare * random() : 0;
  return Math.round(Math.max(delayMs + jitterMs, retryAfterMs));
}

/** Reads a Retry-After header (RFC 9110 §10.2.3) as milliseconds from now, at most an hour; 0 for an invalid one. */
export function readRetryAfterMs(header: string | undefined, nowMs: number): number {
  if (!header) return 0;
  const waitMs = /^\d+$/.test(header.trim())
    ? Number(header) * 1000
    : (readDateText(header, 'none') ?? Number.NaN) * 1000 - nowMs;
  return Number.isNaN(waitMs) ? 0 : Math.min(Math.max(waitMs, 0), retryAfterMaxMs);
}
