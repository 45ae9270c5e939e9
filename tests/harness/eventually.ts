import { setTimeout as delay } from 'node:timers/promises';

interface EventuallyOptions {
  /** How long the condition may take, in milliseconds. By default longer than anything takes on a busy machine. */
  readonly timeoutMs?: number;
  /** The first pause between two checks, in milliseconds. */
  readonly intervalMs?: number;
}

/** The pause grows by this share of the time waited so far, so that long waits cost little CPU time. */
const patience = 0.1;

/** Thrown by a check that can no longer succeed; it ends the wait at once. */
export class Hopeless extends Error {}

/**
 * Repeats `check`, ever less often, until it neither throws nor returns undefined or false, and returns its value. Throws
 * an error with the last failure after the timeout.
 */
export async function eventually<T>(
  what: string,
  check: () => T | Promise<T>,
  { timeoutMs = 90_000, intervalMs = 20 }: EventuallyOptions = {},
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
