import { setTimeout as delay } from 'node:timers/promises';

const pollMs = 10;
/** The wait before the next check, relative to the time so far: long waits cost little CPU time. */
const waitShare = 0.1;

/**
 * For tests: calls `check`, less and less often, until it neither throws nor returns undefined or false, and returns
 * its value. After `timeoutMs` throws `check`'s last error, or that it never held.
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  timeoutMs = 90_000,
): Promise<Exclude<T, undefined | false>> {
  const begunAtMs = performance.now();
  for (;;) {
    let failure: unknown = new Error(`not within ${timeoutMs} ms: ${check}`);
    try {
      const value = await check();
      if (value !== undefined && value !== false) return value as Exclude<T, undefined | false>;
    } catch (error) {
      failure = error;
    }
    const waitedMs = performance.now() - begunAtMs;
    if (waitedMs > timeoutMs) throw failure;
    await delay(Math.max(pollMs, waitedMs * waitShare));
  }
}
