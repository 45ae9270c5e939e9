import { setTimeout as delay } from 'node:timers/promises';

const pollMs = 10;
/** Before the next check passes this share of the time waited so far: who waits long takes no core for it. */
const patience = 0.1;

/**
 * For tests: asks, ever less often, until `check` neither throws nor gives undefined or false, and hands its value back.
 * Throws what it threw last, or that it never held, when `timeoutMs` are over.
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  timeoutMs = 20_000,
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
    await delay(Math.max(pollMs, waitedMs * patience));
  }
}
