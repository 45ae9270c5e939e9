import { EgressFailedError, type EgressResponse } from '@recordbus/egress';
import type { ProviderDeps } from './provider.ts';

const maxAttempts = 4;
const firstWaitMs = 500;
/** Whoever sends is waiting for the answer. */
const patienceMs = 20_000;

/**
 * Sends a request again that the provider was too busy for (429, 5xx) or that found no connection: after what
 * `Retry-After` says, else after twice as long each time. Gives the last answer when there is no time for another try.
 * A request whose answer came too late is not repeated, since it may have been done.
 */
export async function withRetries(
  { wait, clock }: Pick<ProviderDeps, 'wait' | 'clock'>,
  request: () => Promise<EgressResponse>,
): Promise<EgressResponse> {
  const endsAtMs = clock() + patienceMs;
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await request().catch((error: unknown) => {
      if (error instanceof EgressFailedError && error.code !== 'EGRESS_TIMEOUT') return error;
      throw error;
    });
    const isError = outcome instanceof Error;
    if (!isError && outcome.status !== 429 && outcome.status < 500) return outcome;
    const backoffMs = firstWaitMs * 2 ** (attempt - 1) * (1 + Math.random() / 4);
    const waitMs = (isError ? undefined : retryAfterMs(outcome, clock())) ?? backoffMs;
    if (attempt === maxAttempts || clock() + waitMs > endsAtMs) {
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
