import { findUserById, guessOldPassword } from '@recordbus/accounts';
import { unauthenticated, validationFailed } from '@recordbus/errors';
import type { Collection } from '@recordbus/schema';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { type EnrollmentRequired, openOrEnroll } from '../second-factors/enrollment.ts';
import type { UserSession } from '../sessions/user-sessions.ts';
import { writeUserChange } from '../users/write-user.ts';

interface PasswordChange {
  readonly old_password: string;
  readonly password: string;
}

/**
 * Sets a new password for a signed-in user and opens a new session; all other sessions end (identity §3.3). Throws 422 for
 * a wrong old password and for a refused new one, 429 after too many wrong old passwords.
 */
export async function changePassword(
  parts: AuthParts,
  collection: Collection,
  userId: string,
  { old_password, password }: PasswordChange,
  origin: Origin,
): Promise<UserSession | EnrollmentRequired> {
  const { database, guessLimit, passwords } = parts;
  const user = await findUserById(database.query, collection, userId);
  if (!user) throw unauthenticated();
  if (!(await guessOldPassword(guessLimit, user, old_password))) throw validationFailed({ old_password: 'is wrong' });
  const passwordHash = await passwords.hashNew(password);
  return writeUserChange(parts, collection, {
    change: {
      id: userId,
      passwordHash,
      condition: { tokenVersion: user.tokenVersion },
      audit: 'users.password_change',
      userAgent: origin.userAgent,
    },
    context: origin.context,
    // Another change came first and ended this session.
    refusal: unauthenticated,
    finish: ({ query }, user, collection) =>
      openOrEnroll(query, parts, { collection, user, origin, factors: withPassword(origin) }),
  });
}

/** The session that changes the password was signed in with these, and the old password was proved now. */
const withPassword = ({ context: { principal } }: Origin): readonly string[] => [
  ...new Set(['password', ...(principal.type === 'user' ? (principal.factors ?? []) : [])]),
];
