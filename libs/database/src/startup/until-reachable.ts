import { setTimeout } from 'node:timers/promises';
import { messageOf } from '@recordbus/errors';
import { ConfigError, databaseUrl } from '@recordbus/process/config';
import type { Logger } from '@recordbus/process/logging';
import { StartFailure } from '@recordbus/process/start-failure';
import { isConnectionError, isDatabaseError } from '../errors.ts';

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

/** Explains why a database refuses a start or does not answer; returns any other error as it is. */
function startRefusal(error: unknown): unknown {
  if (isConnectionError(error))
    return new StartFailure(`The database at ${databaseUrl.name} does not answer: ${messageOf(error)}.`);
  // Class 28: invalid authorization; 3D000: no such database (PostgreSQL manual, appendix A).
  if (isDatabaseError(error) && /^(28|3D)/.test(error.code ?? ''))
    return new ConfigError(`${databaseUrl.name} cannot be used: ${error.message}.`);
  return error;
}
