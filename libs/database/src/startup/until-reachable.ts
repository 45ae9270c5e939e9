import { setTimeout } from 'node:timers/promises';
import type { Logger } from '@recordbus/shared/logging';
import { isConnectionError } from '../errors.ts';
import { messageOf, startRefusal } from './start-refusal.ts';

/** How long a start waits for a database that is still starting, in milliseconds. */
const startPatienceMs = 60_000;

/** Waits until the database answers, and returns the answer. Throws the last error after a minute. */
export async function untilReachable<T>(ask: () => Promise<T>, log: Logger): Promise<T> {
  const givingUpMs = Date.now() + startPatienceMs;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isConnectionError(error) || Date.now() > givingUpMs) throw startRefusal(error);
      log.warn({ reason: messageOf(error) }, 'waiting for the database');
      await setTimeout(500);
    }
  }
}
