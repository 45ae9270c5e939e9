import { setTimeout } from 'node:timers/promises';

/** Waits until the condition holds; after 10 s throws its last error, or that it never held. */
export async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadlineMs = performance.now() + 10_000;
  let failure: unknown = new Error('the condition never held');
  while (performance.now() < deadlineMs) {
    try {
      if (await condition()) return;
    } catch (error) {
      failure = error;
    }
    await setTimeout(20);
  }
  throw failure;
}
