import { setTimeout as delay } from 'node:timers/promises';

interface EventuallyOptions {
  /** How long the condition may take, in milliseconds. */
  readonly timeoutMs?: number;
  readonly intervalMs?: number;
}

/** Thrown by a check that can't succeed any more: waiting ends at once. */
export class Hopeless extends Error {}

/**
 * Asks again and again until `check` neither throws nor gives undefined or false, and hands its value back.
 * Throws an error with the last failure when the time is over.
 */
export async function eventually<T>(
  what: string,
  check: () => T | Promise<T>,
  { timeoutMs = 10_000, intervalMs = 20 }: EventuallyOptions = {},
): Promise<Exclude<T, undefined | false>> {
  const deadlineMs = performance.now() + timeoutMs;
  for (;;) {
    let failure: unknown;
    try {
      const value = await check();
      if (value !== undefined && value !== false) return value as Exclude<T, undefined | false>;
    } catch (error) {
      failure = error;
    }
    if (failure instanceof Hopeless) throw failure;
    if (performance.now() > deadlineMs) {
      const reason = failure instanceof Error ? `: ${failure.message}` : '';
      throw new Error(`not within ${timeoutMs} ms: ${what}${reason}`, { cause: failure });
    }
    await delay(intervalMs);
  }
}
