import { setTimeout } from 'node:timers/promises';

/** Waits until the question is answered with true; throws what it threw last, or that it never was, after 10 s. */
export async function eventually(question: () => boolean | Promise<boolean>): Promise<void> {
  const givingUpMs = performance.now() + 10_000;
  let failure: unknown = new Error('it never came true');
  while (performance.now() < givingUpMs) {
    try {
      if (await question()) return;
    } catch (error) {
      failure = error;
    }
    await setTimeout(20);
  }
  throw failure;
}
