import { findUserById, refuseSignIn } from '@recordbus/accounts';
import { unauthenticated } from '@recordbus/errors';
import type { Principal } from '@recordbus/request/context';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { type EnrollmentRequired, requireEnrollment } from '../second-factors/enrollment.ts';
import { findMissingFactor } from '../second-factors/missing-factor.ts';
import { type AdminSession, openAdminSession, signAdminSession } from '../sessions/admin-sessions.ts';
import { extendSession } from '../sessions/session-rows.ts';
import { openUserSession, signUserSession, type UserSession } from '../sessions/user-sessions.ts';
import { findAdminById } from '../users/admins.ts';

/**
 * Returns a new token for the caller's session with the current window (auth §9.2); anonymous users have their own
 * window, and an impersonating admin's token keeps its expiry. A user who must set up a second factor gets the token for
 * it, and the session ends with its own token. Throws 401 when the account or the session has ended,
 * 403 if the `sign_in_rule` no longer admits the account.
 */
export function refreshSession(
  parts: AuthParts,
  origin: Origin,
): Promise<UserSession | AdminSession | EnrollmentRequired> {
  const { principal } = origin.context;
  if (principal.type === 'guest' || principal.type === 'service') throw unauthenticated();
  return principal.type === 'admin' ? refreshAdmin(parts, principal, origin) : refreshUser(parts, principal, origin);
}

async function refreshAdmin(
  parts: AuthParts,
  { id, sessionId }: Extract<Principal, { type: 'admin' }>,
  origin: Origin,
): Promise<AdminSession> {
  const { database, settings, signer } = parts;
  const admin = await findAdminById(database.query, id);
  if (!admin) throw unauthenticated();
  if (!sessionId) return openAdminSession(database.query, parts, admin, origin);
  const windowSec = await extend(parts, id, sessionId, settings.get('auth.refresh.window_seconds'));
  return signAdminSession(signer, admin, sessionId, windowSec);
}

async function refreshUser(
  parts: AuthParts,
  principal: Extract<Principal, { type: 'user' }>,
  origin: Origin,
): Promise<UserSession | EnrollmentRequired> {
  const { id, collection: name, sessionId, impersonatedBy, expiresAtSec, factors, signedInAtSec } = principal;
  const { database, settings, nowSec, collections } = parts;
  return collections.serve(name, async (collection) => {
    const user = await findUserById(database.read, collection, id);
    if (!user) throw unauthenticated();
    if (sessionId) await refuseSignIn(database.read, parts, collection, id);
    if (impersonatedBy) {
      const windowSec = (expiresAtSec ?? 0) - nowSec();
      if (windowSec <= 0) throw unauthenticated();
      return signUserSession(database.query, parts, { collection, user, sessionId, windowSec, impersonatedBy });
    }
    const proved = factors ?? [];
    if ((await findMissingFactor(database.read, parts, { collection, user, proved })) === 'enrollment') {
      const provedAtSec = signedInAtSec ?? null;
      return requireEnrollment(database.query, parts, { collection, user, proved, provedAtSec, sessionId });
    }
    if (!sessionId)
      return openUserSession(database.query, parts, {
        collection,
        user,
        origin,
        isSignIn: false,
        factors: [],
      });
    const wantedSec = settings.get(user.isAnonymous ? 'auth.anonymous.window_seconds' : 'auth.refresh.window_seconds');
    const windowSec = await extend(parts, id, sessionId, wantedSec);
    const session = { collection, user, sessionId, windowSec, factors, signedInAtSec };
    return signUserSession(database.query, parts, session);
  });
}

/** Extends the session, and returns the new token's lifetime in seconds. */
async function extend({ database, nowSec }: AuthParts, accountId: string, id: string, windowSec: number) {
  const now = nowSec();
  const endSec = await extendSession(database, { id, accountId, nowSec: now, expiresAtSec: now + windowSec });
  if (endSec === undefined || endSec <= now) throw unauthenticated('the session has ended');
  return endSec - now;
}
