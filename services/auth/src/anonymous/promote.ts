import { findUserByEmail, readerOf } from '@recordbus/accounts';
import { enqueueMail, isMailConfigured } from '@recordbus/mail';
import type { Collection } from '@recordbus/schema';
import type { Principal } from '@recordbus/shared/context';
import { AppError, conflict, forbidden, unauthenticated, validationFailed } from '@recordbus/shared/errors';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { openUserSession, type UserSession } from '../sessions/user-sessions.ts';
import { makeChange } from '../users/write-user.ts';
import { issueVerification } from '../verification/verification.ts';

interface Credentials {
  readonly email: string;
  readonly password: string;
}

/**
 * Refuses whoever is no anonymous user, before anything of the request is read (interface §7): 401 without a token, 403
 * for any other caller, also for the token of a user who has been promoted since.
 */
export function demandAnonymous(principal: Principal): asserts principal is Extract<Principal, { type: 'user' }> {
  if (principal.type === 'guest' && !principal.isPromoted) throw unauthenticated();
  if (principal.type !== 'user' || !principal.anonymous) throw notAnonymous();
}

/**
 * Makes an anonymous user a regular one, with the same id and everything that is theirs; all tokens so far end, and a
 * new session is opened. Throws 403 for a user who is no longer anonymous, 409 for an address that is taken, 422 for
 * one that can't be one there and for a password that the policy refuses.
 */
export async function promote(
  parts: AuthParts,
  collection: Collection,
  userId: string,
  credentials: Credentials,
  origin: Origin,
): Promise<UserSession> {
  const { database, settings, bus, passwords } = parts;
  const isTaken = async () => (await findUserByEmail(database.query, collection, credentials.email)) !== undefined;
  if (await isTaken()) throw addressTaken();
  const email = await readCredentials(parts, collection, credentials);
  const passwordHash = await passwords.hashNew(credentials.password);
  const write = makeChange(parts, collection, {
    change: {
      id: userId,
      fields: { email, verified: false },
      passwordHash,
      isAnonymous: false,
      condition: { isAnonymous: true },
      audit: 'users.promote',
      userAgent: origin.userAgent,
    },
    context: origin.context,
    refusal: notAnonymous,
    async finish(query, user, collection) {
      if (isMailConfigured(settings)) await enqueueMail(query, await issueVerification(query, parts, collection, user));
      return openUserSession(query, parts, { collection, user, origin });
    },
  });
  const session = await write.catch(async (error) => {
    // Somebody took the address meanwhile.
    throw error instanceof AppError && error.status === 422 && (await isTaken()) ? addressTaken() : error;
  });
  bus.notify('mail');
  return session;
}

/** The address as it is stored. Throws 422 naming everything that is wrong with either. */
async function readCredentials(
  { passwords }: Pick<AuthParts, 'passwords'>,
  collection: Collection,
  { email, password }: Credentials,
): Promise<string> {
  const reader = readerOf(collection);
  try {
    return String(reader.readChange({ email }).get('email'));
  } catch (error) {
    const problem = await passwords.findProblem(password);
    if (!(error instanceof AppError) || !problem) throw error;
    throw validationFailed({ ...error.details, password: problem });
  }
}

const notAnonymous = () => forbidden('only an anonymous user can be promoted', 'not_anonymous');

const addressTaken = () => conflict('email_taken', 'the address is taken');
