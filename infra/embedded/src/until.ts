import { setTimeout as delay } from 'node:timers/promises';

const pollMs = 10;

/** Asks every 10 ms until there is an answer; returns undefined when there is none in time. */
export async function until<T>(timeoutMs: number, ask: () => Promise<T | undefined>): Promise<T | undefined> {
  const endsAtMs = performance.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined || performance.now() >= endsAtMs) return answer;
    await delay(pollMs);
  }
}
