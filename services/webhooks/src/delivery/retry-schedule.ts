/** How a webhook wants its failed deliveries repeated. */
interface RetryPlan {
  /** Attempts after the first one. */
  readonly retryMax: number;
  readonly backoff: 'exponential' | 'fixed';
  readonly baseDelayMs: number;
}

const dayMs = 24 * 3600 * 1000;
/** Short delays stay exact, longer ones are spread a little, upwards only. */
const jitterFromMs = 10_000;
const jitterShare = 0.1;
const retryAfterMaxMs = 3600 * 1000;

/**
 * The wait before the next attempt in milliseconds after so many recorded ones; undefined when there is none left.
 * What the receiver asked for (Retry-After) is a lower bound. Doubling ends at a day, or at the base if that is longer.
 */
export function nextDelayMs(
  plan: RetryPlan,
  recordedAttempts: number,
  retryAfterMs = 0,
  random = Math.random,
): number | undefined {
  if (recordedAttempts > plan.retryMax) return undefined;
  const { backoff, baseDelayMs } = plan;
  const doubled = Math.min(baseDelayMs * 2 ** (recordedAttempts - 1), Math.max(dayMs, baseDelayMs));
  const delayMs = backoff === 'fixed' ? baseDelayMs : doubled;
  const jitterMs = delayMs >= jitterFromMs ? delayMs * jitterShare * random() : 0;
  return Math.round(Math.max(delayMs + jitterMs, retryAfterMs));
}

/** Reads a Retry-After header (RFC 9110 §10.2.3) as milliseconds from now, at most an hour; 0 for what it is not. */
export function readRetryAfterMs(header: string | undefined, nowMs: number): number {
  if (!header) return 0;
  const waitMs = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - nowMs;
  return Number.isNaN(waitMs) ? 0 : Math.min(Math.max(waitMs, 0), retryAfterMaxMs);
}
