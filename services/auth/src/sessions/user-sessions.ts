import { refuseSignIn, type User, visibleRecord } from '@recordbus/accounts';
import type { Query } from '@recordbus/database';
import { unauthenticated } from '@recordbus/errors';
import type { Collection } from '@recordbus/schema';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { insertSession } from './session-rows.ts';

/** The answer to a user's sign-in. */
export interface UserSession {
  readonly token: string;
  readonly record: Readonly<Record<string, unknown>>;
}

type Parts = Pick<AuthParts, 'settings' | 'signer' | 'encryption' | 'schema' | 'nowSec'>;

interface Opening {
  readonly collection: Collection;
  readonly user: User;
  readonly origin: Origin;
  /** Whether the user has proved the identity now; true by default, false for a refreshed token. */
  readonly isSignIn?: boolean;
  /** What the sign-in was proved with; nothing without one. */
  readonly factors: readonly string[];
}

/**
 * Opens a session for a user, with the window for regular or anonymous users (auth §9.1). The caller has checked every
 * proof. Throws 403 if the `sign_in_rule` does not admit the account, 401 when the password was changed or the account deleted
 * in the meantime.
 */
export async function openUserSession(
  query: Query,
  parts: Parts,
  { collection, user, origin, isSignIn = true, factors }: Opening,
): Promise<UserSession> {
  const { settings, nowSec } = parts;
  const windowSec = settings.get(user.isAnonymous ? 'auth.anonymous.window_seconds' : 'auth.user.window_seconds');
  const now = nowSec();
  const account = { collection, id: user.id, tokenVersion: user.tokenVersion, isSignIn, factors };
  const times = { nowSec: now, expiresAtSec: now + windowSec };
  const sessionId = await insertSession(query, account, origin, times, parts.schema);
  if (!sessionId) {
    await refuseSignIn(query, parts, collection, user.id);
    throw unauthenticated('the account has changed; sign in again');
  }
  const signedInAtSec = isSignIn ? now : null;
  return signUserSession(query, parts, { collection, user, sessionId, windowSec, factors, signedInAtSec });
}

/** Signs a session's token with the values in the user's row. */
export async function signUserSession(
  query: Query,
  { signer, ...deps }: Pick<Parts, 'signer' | 'encryption' | 'schema'>,
  session: {
    readonly collection: Collection;
    readonly user: User;
    /** Undefined for a token without a session (auth §8.2). */
    readonly sessionId: string | undefined;
    readonly windowSec: number;
    readonly impersonatedBy?: string | null;
    /** The session's sign-in, as rules read it. */
    readonly factors?: readonly string[] | undefined;
    readonly signedInAtSec?: number | null | undefined;
  },
): Promise<UserSession> {
  const { collection, user, sessionId, windowSec, impersonatedBy = null, factors, signedInAtSec } = session;
  const token = await signer.signSession({
    principal: {
      type: 'user',
      id: user.id,
      email: user.email,
      collection: collection.name,
      anonymous: user.isAnonymous,
      impersonatedBy,
    },
    tokenVersion: user.tokenVersion,
    sessionId,
    windowSec,
  });
  return { token, record: await visibleRecord(query, deps, collection, user, { factors, signedInAtSec }) };
}
