import { setTimeout as delay } from 'node:timers/promises';

interface EventuallyOptions {
  /** How long the condition may take, in milliseconds. */
  readonly timeoutMs?: number;
  /** Between two checks at first, in milliseconds. */
  readonly intervalMs?: number;
}

/** Before the next check passes this share of the time waited so far: who waits long takes no core for it. */
const patience = 0.1;

/** Thrown by a check that can't succeed any more: waiting ends at once. */
export class Hopeless extends Error {}

/**
 * Asks again and again, ever less often, until `check` neither throws nor gives undefined or false, and hands its value
 * back. Throws an error with the last failure when the time is over.
 */
export async function eventually<T>(
  what: string,
  check: () => T | Promise<T>,
  { timeoutMs = 10_000, intervalMs = 20 }: EventuallyOptions = {},
): Promise<Exclude<T, undefined | false>> {
  const begunAtMs = performance.now();
  for (;;) {
    let failure: unknown;
    try {
      const value = await check();
      if (value !== undefined && value !== false) return value as Exclude<T, undefined | false>;
    } catch (error) {
      failure = error;
    }
    if (failure instanceof Hopeless) throw failure;
    const waitedMs = performance.now() - begunAtMs;
    if (waitedMs > timeoutMs) {
      const reason = failure instanceof Error ? `: ${failure.message}` : '';
      throw new Error(`not within ${timeoutMs} ms: ${what}${reason}`, { cause: failure });
    }
    await delay(Math.max(intervalMs, waitedMs * patience));
  }
}
