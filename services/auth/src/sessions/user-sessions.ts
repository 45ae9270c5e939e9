import type { User } from '@recordbus/accounts';
import type { Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import { unauthenticated } from '@recordbus/shared/errors';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { insertSession } from './session-rows.ts';

/** What a user gets who is signed in: the token and who they are. */
export interface UserSession {
  readonly token: string;
  readonly record: Readonly<Record<string, unknown>>;
}

type Parts = Pick<AuthParts, 'settings' | 'signer' | 'sealing' | 'nowSec'>;

/**
 * Opens a session for a user who has proved everything that is asked, with the window of their kind (interface §5).
 * Throws 401 when the account changed its password or went while that was going on.
 */
export async function openUserSession(
  query: Query,
  { settings, signer, sealing, nowSec }: Parts,
  { collection, user, origin }: { collection: Collection; user: User; origin: Origin },
): Promise<UserSession> {
  const windowSec = settings.get(user.isAnonymous ? 'auth.anonymous.window_seconds' : 'auth.user.window_seconds');
  const now = nowSec();
  const account = { collection, id: user.id, tokenVersion: user.tokenVersion };
  const sessionId = await insertSession(query, account, origin, { nowSec: now, expiresAtSec: now + windowSec });
  if (!sessionId) throw unauthenticated('the account has changed; sign in again');
  return signUserSession({ signer, sealing }, { collection, user, sessionId, windowSec });
}

/** Signs the token of a session, which says what the user's row says. */
export async function signUserSession(
  { signer, sealing }: Pick<Parts, 'signer' | 'sealing'>,
  session: {
    readonly collection: Collection;
    readonly user: User;
    /** None for a token that was signed elsewhere. */
    readonly sessionId: string | undefined;
    readonly windowSec: number;
    readonly impersonatedBy?: string | null;
  },
): Promise<UserSession> {
  const { collection, user, sessionId, windowSec, impersonatedBy = null } = session;
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
  const record = { ...user.record };
  sealing.openRecord(collection, record);
  return { token, record };
}
