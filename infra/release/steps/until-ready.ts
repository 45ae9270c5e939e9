import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';

const health = z.object({ data: z.object({ version: z.string() }) });

interface Waiting {
  /** The stack's address; undefined while it is unknown. */
  url(): string | undefined;
  readonly version: string;
  readonly timeoutMs: number;
  /** Whether the stack's process has ended. */
  hasEnded(): boolean;
}

const pauseMs = 200;

/** Waits until a stack is healthy. Throws when it ends, is late, or tells another version. */
export async function untilReady({ url, version, timeoutMs, hasEnded }: Waiting): Promise<void> {
  const deadlineMs = performance.now() + timeoutMs;
  while (performance.now() < deadlineMs) {
    if (hasEnded()) throw new Error('The stack ended before it answered.');
    const address = url();
    const answer = address === undefined ? undefined : await fetch(`${address}/api/v1/health`).catch(() => undefined);
    if (answer?.ok) {
      const told = health.parse(await answer.json()).data.version;
      if (told === version) return;
      throw new Error(`The stack tells the version ${told} instead of ${version}.`);
    }
    await delay(pauseMs);
  }
  throw new Error(`The stack did not answer within ${timeoutMs / 1000} s.`);
}
