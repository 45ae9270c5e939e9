import { setTimeout as delay } from 'node:timers/promises';

const pollMs = 10;

/** Asks every 10 ms until there is an answer; undefined when the deadline passes without one. */
export async function until<T>(deadlineMs: number, ask: () => Promise<T | undefined>): Promise<T | undefined> {
  const endsAtMs = performance.now() + deadlineMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined || performance.now() >= endsAtMs) return answer;
    await delay(pollMs);
  }
}
