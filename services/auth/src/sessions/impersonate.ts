import { auditUser, findUserById, refuseBlocked, refuseSignIn } from '@recordbus/accounts';
import type { Query } from '@recordbus/database';
import { notFound, unauthenticated } from '@recordbus/errors';
import type { Principal } from '@recordbus/request/context';
import type { Collection } from '@recordbus/schema';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { requireFeature } from '../features.ts';
import { insertSession } from './session-rows.ts';
import { signUserSession } from './user-sessions.ts';

/** A token with which an admin, or a service key, acts as a user. */
export interface Impersonation {
  readonly token: string;
  /** The admin's or key's id. */
  readonly impersonated_by: string;
}

/**
 * Opens a session in which an admin acts as a user (admins §5). It ends with the user's sessions, and when the admin's
 * account is changed or deleted. A service key may open one too: it ends with the key, at the latest when the key expires. Throws 422
 * while impersonation is switched off, 404 for an unknown user, 403 for one who is blocked or whom the
 * `sign_in_rule` refuses.
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
  if (principal.type !== 'admin' && principal.type !== 'service') throw unauthenticated();
  return database.transaction(async (query) => {
    await requireActor(query, principal);
    const user = await findUserById(query, collection, userId);
    if (!user) throw notFound('user');
    await refuseBlocked(query, user.id);
    const now = nowSec();
    const keyLeftSec = principal.type === 'service' && principal.expiresAtSec ? principal.expiresAtSec - now : Infinity;
    const windowSec = Math.max(1, Math.min(settings.get('auth.impersonate.window_seconds'), keyLeftSec));
    const account = {
      collection,
      id: user.id,
      tokenVersion: user.tokenVersion,
      impersonatedBy: principal.id,
      isSignIn: false,
    };
    const times = { nowSec: now, expiresAtSec: now + windowSec };
    const sessionId = await insertSession(query, account, origin, times, parts.schema);
    if (!sessionId) {
      await refuseSignIn(query, parts, collection, user.id);
      throw notFound('user');
    }
    await auditUser(query, 'users.impersonate', collection, user.id, origin, { window_seconds: windowSec });
    const session = { collection, user, sessionId, windowSec, impersonatedBy: principal.id };
    return { token: (await signUserSession(query, parts, session)).token, impersonated_by: principal.id };
  });
}

/** Locks the actor, so that a change that ends it waits for the new session. Throws 401 when the actor is gone. */
async function requireActor(query: Query, { type, id }: Pick<Impersonator, 'type' | 'id'>): Promise<void> {
  const table = type === 'admin' ? 'system.admins' : 'system.service_keys';
  const found = await query({ text: `select from ${table} where id = $1 for share`, values: [id] });
  if (found.length === 0) throw unauthenticated();
}

type Impersonator = Extract<Principal, { type: 'admin' | 'service' }>;
