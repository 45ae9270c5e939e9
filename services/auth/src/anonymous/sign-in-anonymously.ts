import { newId } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import { forbidden, validationFailed } from '@recordbus/shared/errors';
import { type AuthParts, type Origin, tellOfWrittenUsers } from '../auth-parts.ts';
import { demandFeature } from '../features.ts';
import { openUserSession, type UserSession } from '../sessions/user-sessions.ts';
import { createUser } from '../users/create-user.ts';
import { readerOf } from '../users/record-reader.ts';
import { syntheticAddress } from '../users/synthetic-address.ts';

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
  const { database, settings, bus } = parts;
  demandFeature(settings, 'auth.anonymous.enabled');
  if (body.verified === true) throw forbidden('an anonymous user has no address that could be verified');
  const given = credentials.filter((name) => body[name] !== undefined);
  if (given.length > 0)
    throw validationFailed(Object.fromEntries(given.map((name) => [name, 'is asked for when the user is promoted'])));
  const id = newId();
  const values = readerOf(collection).readNew(body, new Map([['email', syntheticAddress('anon', id)]]));
  const session = await database.transaction(async (query) => {
    const user = await createUser(
      query,
      parts,
      collection,
      { id, values, passwordHash: null, isAnonymous: true },
      origin.context,
    );
    return openUserSession(query, parts, { collection, user, origin });
  });
  tellOfWrittenUsers(bus);
  return session;
}
