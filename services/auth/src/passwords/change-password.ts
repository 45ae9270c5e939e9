import { oldPasswordGuesses } from '@recordbus/passwords';
import type { Collection } from '@recordbus/schema';
import { unauthenticated, validationFailed } from '@recordbus/shared/errors';
import { type AuthParts, type Origin, tellOfWrittenUsers } from '../auth-parts.ts';
import { openUserSession, type UserSession } from '../sessions/user-sessions.ts';
import { auditUser } from '../users/audit-user.ts';
import { changeUser } from '../users/change-user.ts';
import { findUserById } from '../users/find-user.ts';
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
  const { database, guessLimit, passwords, bus } = parts;
  const user = await findUserById(database.query, collection, userId);
  if (!user) throw unauthenticated();
  const guesses = oldPasswordGuesses(user.id);
  await guessLimit.reserve(guesses);
  if (!(await checkPassword(database.query, collection, user, old_password)))
    throw validationFailed({ old_password: 'is wrong' });
  await guessLimit.clear(guesses.key);
  const passwordHash = await passwords.hashNew(password);
  const session = await database.transaction(async (query) => {
    const condition = { tokenVersion: user.tokenVersion };
    const changed = await changeUser(query, collection, userId, { passwordHash }, origin.context, condition);
    // Another change came first, and ended this session too.
    if (!changed) throw unauthenticated();
    await auditUser(query, 'users.password_change', collection, userId, origin);
    return openUserSession(query, parts, { collection, user: changed, origin });
  });
  tellOfWrittenUsers(bus);
  return session;
}
