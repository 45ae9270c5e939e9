import { auditUser, findUserById } from '@recordbus/accounts';
import type { Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import { notFound, unauthenticated } from '@recordbus/shared/errors';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { demandFeature } from '../features.ts';
import { insertSession } from '../sessions/session-rows.ts';
import { signUserSession } from '../sessions/user-sessions.ts';

/** A token by which an admin acts as a user. */
export interface Impersonation {
  readonly token: string;
  /** Id of the admin. */
  readonly impersonated_by: string;
}

/**
 * Lets an admin act as a user for a while (interface §5, Impersonation). The session ends with the user's sessions, and
 * when the admin's account is changed or deleted. Throws 422 while that is switched off, 404 for a user who is not there.
 */
export async function impersonate(
  parts: AuthParts,
  collection: Collection,
  userId: string,
  origin: Origin,
): Promise<Impersonation> {
  const { database, settings, nowSec } = parts;
  demandFeature(settings, 'auth.impersonation.enabled');
  const { principal } = origin.context;
  if (principal.type !== 'admin') throw unauthenticated();
  return database.transaction(async (query) => {
    await demandAdmin(query, principal.id);
    const user = await findUserById(query, collection, userId);
    if (!user) throw notFound('user');
    const windowSec = settings.get('auth.impersonate.window_seconds');
    const now = nowSec();
    const account = { collection, id: user.id, tokenVersion: user.tokenVersion, impersonatedBy: principal.id };
    const sessionId = await insertSession(query, account, origin, { nowSec: now, expiresAtSec: now + windowSec });
    if (!sessionId) throw notFound('user');
    await auditUser(query, 'users.impersonate', collection, user.id, origin, { window_seconds: windowSec });
    const session = { collection, user, sessionId, windowSec, impersonatedBy: principal.id };
    return { token: (await signUserSession(parts, session)).token, impersonated_by: principal.id };
  });
}

/** An admin who is being deleted leaves no session behind: the deletion waits for this one, or this one finds nobody. */
async function demandAdmin(query: Query, id: string): Promise<void> {
  const admins = await query({ text: 'select from system.admins where id = $1 for share', values: [id] });
  if (admins.length === 0) throw unauthenticated();
}
