import { findUserById } from '@recordbus/accounts';
import { oldPasswordGuesses } from '@recordbus/passwords';
import type { Collection } from '@recordbus/schema';
import { unauthenticated, validationFailed } from '@recordbus/shared/errors';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { openUserSession, type UserSession } from '../sessions/user-sessions.ts';
import { makeChange } from '../users/write-user.ts';
import { checkPassword } from './check-password.ts';

interface PasswordChange {
  readonly old_password: string;
  readonly password: string;
}

/**
 * Gives a signed-in user a new password and a new session; all others end. Throws 422 naming the old password when it
 * is wrong and the new one when it is refused, and 429 when too many old ones were wrong.
 */
export async function changePassword(
  parts: AuthParts,
  collection: Collection,
  userId: string,
  { old_password, password }: PasswordChange,
  origin: Origin,
): Promise<UserSession> {
  const { database, guessLimit, passwords } = parts;
  const user = await findUserById(database.query, collection, userId);
  if (!user) throw unauthenticated();
  const guesses = oldPasswordGuesses(user.id);
  await guessLimit.reserve(guesses);
  if (!(await checkPassword(database.query, collection, user, old_password)))
    throw validationFailed({ old_password: 'is wrong' });
  await guessLimit.clear(guesses.key);
  const passwordHash = await passwords.hashNew(password);
  return makeChange(parts, collection, {
    change: {
      id: userId,
      passwordHash,
      condition: { tokenVersion: user.tokenVersion },
      audit: 'users.password_change',
      userAgent: origin.userAgent,
    },
    context: origin.context,
    // Another change came first, and ended this session too.
    refusal: unauthenticated,
    finish: (query, user, collection) => openUserSession(query, parts, { collection, user, origin }),
  });
}
