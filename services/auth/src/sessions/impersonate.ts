import { auditUser, findUserById } from '@recordbus/accounts';
import type { Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import { notFound, unauthenticated } from '@recordbus/shared/errors';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { requireFeature } from '../features.ts';
import { insertSession } from './session-rows.ts';
import { signUserSession } from './user-sessions.ts';

/** A token with which an admin acts as a user. */
export interface Impersonation {
  readonly token: string;
  /** The id of the admin. */
  readonly impersonated_by: string;
}

/**
 * Opens a session in which an admin acts as a user (admins §5). It ends with the user's sessions, and when the admin's
 * account is changed or deleted. Throws 422 while impersonation is switched off, 404 for an unknown user.
 */
export async function impersonate(
  parts: AuthParts,
  collection: Collection,
  userId: string,
  origin: Origin,
): Promise<Impersonation> {
  const { database, settings, nowSec } = parts;
  requireFeature(settings, 'auth.impersonation.enabled');
  const { principal } = origin.context;
  if (principal.type !== 'admin') throw unauthenticated();
  return database.transaction(async (query) => {
    await requireAdmin(query, principal.id);
    const user = await findUserById(query, collection, userId);
    if (!user) throw notFound('user');
    const windowSec = settings.get('auth.impersonate.window_seconds');
    const now = nowSec();
    const account = {
      collection,
      id: user.id,
      tokenVersion: user.tokenVersion,
      impersonatedBy: principal.id,
      isSignIn: false,
    };
    const sessionId = await insertSession(query, account, origin, { nowSec: now, expiresAtSec: now + windowSec });
    if (!sessionId) throw notFound('user');
    await auditUser(query, 'users.impersonate', collection, user.id, origin, { window_seconds: windowSec });
    const session = { collection, user, sessionId, windowSec, impersonatedBy: principal.id };
    return { token: (await signUserSession(query, parts, session)).token, impersonated_by: principal.id };
  });
}

/** Locks the admin, so that a deletion waits for the new session or is seen here. Throws 401 when the admin is gone. */
async function requireAdmin(query: Query, id: string): Promise<void> {
  const admins = await query({ text: 'select from system.admins where id = $1 for share', values: [id] });
  if (admins.length === 0) throw unauthenticated();
}
