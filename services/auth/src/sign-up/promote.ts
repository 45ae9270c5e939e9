import { findUserByEmail, readerOf } from '@recordbus/accounts';
import { AppError, conflict, forbidden, unauthenticated, validationFailed } from '@recordbus/errors';
import type { Principal } from '@recordbus/request/context';
import type { Collection } from '@recordbus/schema';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { type EnrollmentRequired, openOrEnroll } from '../second-factors/enrollment.ts';
import type { UserSession } from '../sessions/user-sessions.ts';
import { writeUserChange } from '../users/write-user.ts';
import { mailVerification } from '../verification/verification.ts';

interface Credentials {
  readonly email: string;
  readonly password: string;
}

/**
 * Refuses callers who are not anonymous users, before the body is read (auth §7.3): 401 without a token, otherwise 403,
 * even for a promoted user's old token.
 */
export function requireAnonymous(principal: Principal): asserts principal is Extract<Principal, { type: 'user' }> {
  if (principal.type === 'guest' && !principal.isPromoted) throw unauthenticated();
  if (principal.type !== 'user' || !principal.anonymous) throw notAnonymous();
}

/**
 * Promotes an anonymous user, who keeps the id and all data (auth §7.2). Earlier tokens end, and a new session opens.
 * Throws 403 for a user who is no longer anonymous or whom the `sign_in_rule` would refuse, 409 for a taken address, 422 for an address or a password that is
 * refused.
 */
export async function promote(
  parts: AuthParts,
  collection: Collection,
  userId: string,
  credentials: Credentials,
  origin: Origin,
): Promise<UserSession | EnrollmentRequired> {
  const { database, passwords } = parts;
  const isTaken = async () => (await findUserByEmail(database.query, collection, credentials.email)) !== undefined;
  if (await isTaken()) throw addressTaken();
  const email = await readCredentials(parts, collection, credentials);
  const passwordHash = await passwords.hashNew(credentials.password);
  const write = writeUserChange(parts, collection, {
    change: {
      id: userId,
      fields: { email, verified: false },
      passwordHash,
      isAnonymous: false,
      signsIn: true,
      condition: { isAnonymous: true },
      audit: 'users.promote',
      userAgent: origin.userAgent,
    },
    context: origin.context,
    refusal: notAnonymous,
    async finish(unit, user, collection) {
      await mailVerification(unit, parts, collection, user);
      return openOrEnroll(unit.query, parts, { collection, user, origin, factors: ['password'] });
    },
  });
  return write.catch(async (error) => {
    // Another user may have taken the address since the check.
    throw error instanceof AppError && error.status === 422 && (await isTaken()) ? addressTaken() : error;
  });
}

/** Returns the address to store. Throws 422 naming everything that is wrong with the address and the password. */
async function readCredentials(
  { passwords }: Pick<AuthParts, 'passwords'>,
  collection: Collection,
  { email, password }: Credentials,
): Promise<string> {
  const reader = readerOf(collection);
  try {
    return String((await reader.readChange({ email })).get('email'));
  } catch (error) {
    const problem = await passwords.findProblem(password);
    if (!(error instanceof AppError) || !problem) throw error;
    throw validationFailed({ ...error.details, password: problem });
  }
}

const notAnonymous = () => forbidden('only an anonymous user can be promoted', 'not_anonymous');

const addressTaken = () => conflict('email_taken', 'the address is taken');
