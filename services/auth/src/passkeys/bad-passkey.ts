import { AppError } from '@recordbus/errors';
import type { AuthParts } from '../auth-parts.ts';

/** The one 401 for a bad passkey: the caller does not learn which check failed. */
export const badPasskey = () =>
  new AppError(401, 'invalid_passkey', 'the passkey is wrong, or the challenge is wrong, used or expired');

/** Runs a check of a credential; whatever it throws is the 401. The reason goes to the log. */
export async function checked<T>({ log }: Pick<AuthParts, 'log'>, check: () => Promise<T>): Promise<T> {
  try {
    return await check();
  } catch (error) {
    log.debug({ reason: error instanceof Error ? error.message.slice(0, 200) : 'unknown' }, 'a passkey was refused');
    throw badPasskey();
  }
}
