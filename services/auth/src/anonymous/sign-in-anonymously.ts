import { newId } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import { forbidden, validationFailed } from '@recordbus/shared/errors';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { demandFeature } from '../features.ts';
import { openUserSession, type UserSession } from '../sessions/user-sessions.ts';
import { syntheticAddress } from '../users/synthetic-address.ts';
import { makeUser } from '../users/write-user.ts';

/** What an anonymous user gets an account without, until they are promoted. */
const credentials = ['email', 'password'];

/**
 * Makes a user of somebody who says nothing about themselves, and signs them in (interface §5, Anonymous sessions). The
 * body may have fields of the collection, and must have those that are required. Throws 422 while that is switched off,
 * and for a field that is wrong, naming it; 403 for somebody who calls themselves verified.
 */
export async function signInAnonymously(
  parts: AuthParts,
  collection: Collection,
  body: Readonly<Record<string, unknown>>,
  origin: Origin,
): Promise<UserSession> {
  demandFeature(parts.settings, 'auth.anonymous.enabled');
  if (body.verified === true) throw forbidden('an anonymous user has no address that could be verified');
  const refused = credentials.filter((name) => body[name] !== undefined);
  if (refused.length > 0)
    throw validationFailed(Object.fromEntries(refused.map((name) => [name, 'is asked for when the user is promoted'])));
  const id = newId();
  const given = { email: syntheticAddress('anon', id) };
  return makeUser(parts, collection, {
    user: { id, fields: body, given, passwordHash: null, isAnonymous: true },
    context: origin.context,
    finish: (query, user, collection) => openUserSession(query, parts, { collection, user, origin }),
  });
}
