import { readSignUpRequest } from '@recordbus/accounts';
import { newId } from '@recordbus/database';
import { forbidden, validationFailed } from '@recordbus/errors';
import { type Collection, syntheticAddress } from '@recordbus/schema';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { requireFeature } from '../features.ts';
import { openUserSession, type UserSession } from '../sessions/user-sessions.ts';
import { writeNewUser } from '../users/write-user.ts';

/** The members that an anonymous user gets by promotion only. */
const credentials = ['email', 'password'];

/**
 * Creates an anonymous user and signs the user in (auth §7.1). The body may have the collection's fields and must have
 * the required ones. Throws 422 while it is switched off, and naming a wrong field; 403 for `verified: true`.
 */
export async function signInAnonymously(
  parts: AuthParts,
  collection: Collection,
  body: Readonly<Record<string, unknown>>,
  origin: Origin,
): Promise<UserSession> {
  requireFeature(parts.settings, 'auth.anonymous.enabled');
  if (body.verified === true) throw forbidden('an anonymous user has no address that could be verified');
  const refused = credentials.filter((name) => body[name] !== undefined);
  if (refused.length > 0)
    throw validationFailed(Object.fromEntries(refused.map((name) => [name, 'is set when the user is promoted'])));
  const id = newId();
  const given = { email: syntheticAddress('anon', id) };
  return writeNewUser(parts, collection, {
    user: {
      id,
      fields: body,
      given,
      passwordHash: null,
      isAnonymous: true,
      asked: readSignUpRequest(collection, body, origin),
      signsIn: true,
    },
    context: origin.context,
    finish: ({ query }, user, collection) => openUserSession(query, parts, { collection, user, origin, factors: [] }),
  });
}
