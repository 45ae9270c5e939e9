import { EgressFailedError, type EgressResponse } from '@recordbus/egress';
import type { ProviderDeps } from './provider.ts';

const maxAttempts = 4;
const firstWaitMs = 500;
/** When a provider that has had too many requests does not say how long to wait, as Firebase's documents have it. */
const tooManyWaitMs = 60_000;

/**
 * Sends a request again that the provider was too busy for (429, 5xx) or that found no connection: after what
 * `Retry-After` says, else after twice as long each time. Gives the last answer when there is no time for another try
 * before `endsAtMs`, by the clock; throws when there is none for the first. A request whose answer came too late is not repeated, since it may have been done.
 */
export async function withRetries(
  { wait, clock }: Pick<ProviderDeps, 'wait' | 'clock'>,
  endsAtMs: number,
  request: () => Promise<EgressResponse>,
): Promise<EgressResponse> {
  if (clock() >= endsAtMs) throw new Error('no time was left for it');
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
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - nowMs;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
