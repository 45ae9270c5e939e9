import { setTimeout as delay } from 'node:timers/promises';

const pollMs = 10;

/**
 * For tests: asks until `check` neither throws nor gives undefined or false, and hands its value back. Throws what it
 * threw last, or that it never held, when `timeoutMs` are over.
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  timeoutMs = 20_000,
): Promise<Exclude<T, undefined | false>> {
  const givingUpMs = performance.now() + timeoutMs;
  for (;;) {
    let failure: unknown = new Error(`not within ${timeoutMs} ms: ${check}`);
    try {
      const value = await check();
      if (value !== undefined && value !== false) return value as Exclude<T, undefined | false>;
    } catch (error) {
      failure = error;
    }
    if (performance.now() > givingUpMs) throw failure;
    await delay(pollMs);
  }
}
