import { EgressFailedError, type EgressResponse } from '@recordbus/egress';
import { readDateText } from '@recordbus/text/date-text';
import type { ProviderDeps } from './provider.ts';

const maxAttempts = 4;
const firstWaitMs = 500;
/** The wait after a 429 without Retry-After; Firebase documents it. */
const tooManyWaitMs = 60_000;

/**
 * Repeats a request after 429, 5xx and failed connections: after `Retry-After`, else with doubling waits (notifications
 * §2.5). Returns the last answer when there is no time for another attempt before `endsAtMs`, by the clock; throws when
 * there is no time for the first one. A request that timed out is not repeated, since it may have succeeded.
 */
export async function withRetries(
  { wait, clock }: Pick<ProviderDeps, 'wait' | 'clock'>,
  endsAtMs: number,
  request: () => Promise<EgressResponse>,
): Promise<EgressResponse> {
  if (clock() >= endsAtMs) throw new Error('no time was left for the request');
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await request().catch((error: unknown) => {
      if (error instanceof EgressFailedError && error.code !== 'EGRESS_TIMEOUT') return error;
      throw error;
    });
    const isError = outcome instanceof Error;
    if (!isError && outcome.status !== 429 && outcome.status < 500) return outcome;
    const backoffMs = firstWaitMs * 2 ** (attempt - 1) * (1 + Math.random() / 4);
    const waitMs = isError
      ? backoffMs
      : (retryAfterMs(outcome, clock()) ?? (outcome.status === 429 ? tooManyWaitMs : backoffMs));
    if (attempt === maxAttempts || clock() + waitMs >= endsAtMs) {
      if (isError) throw outcome;
      return outcome;
    }
    await wait(waitMs);
  }
}

/** RFC 9110 §10.2.3: seconds, or a date. */
function retryAfterMs({ headers }: EgressResponse, nowMs: number): number | undefined {
  const value = headers['retry-after'];
  if (value === undefined) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : (readDateText(value, 'none') ?? Number.NaN) * 1000 - nowMs;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
