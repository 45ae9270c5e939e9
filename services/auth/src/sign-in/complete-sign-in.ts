import type { User } from '@recordbus/accounts';
import type { Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import type { AuthParts, Origin } from '../auth-parts.ts';
import type { LoginAttempt } from '../lockout/lockout.ts';
import { issueOneTimeToken } from '../one-time/one-time-tokens.ts';
import { openUserSession, type UserSession } from '../sessions/user-sessions.ts';

/** What a right first factor is answered with. */
export type SignedIn = UserSession | { readonly mfa_required: true; readonly mfa_token: string };

/** How long a second factor is waited for, in seconds (contract §4). */
const mfaLifetimeSec = 300;

interface FirstFactor {
  readonly collection: Collection;
  readonly user: User;
  readonly origin: Origin;
  /** The attempt that was reserved for it, if it can be guessed. */
  readonly attempt?: LoginAttempt | undefined;
  /** What the second factor will need to know to finish, such as a link that is made only then. */
  readonly mfaData?: Readonly<Record<string, unknown>>;
}

/**
 * The end of every first factor (password, one-time code, OAuth2, merge): a session, or for a user with an
 * authenticator app the token with which to present its code. Nothing else opens a session for a user who signs in.
 */
export async function completeSignIn(
  query: Query,
  parts: Pick<AuthParts, 'settings' | 'signer' | 'sealing' | 'nowSec' | 'lockout'>,
  { collection, user, origin, attempt, mfaData = {} }: FirstFactor,
): Promise<SignedIn> {
  if (!user.totpEnabled) {
    const session = await openUserSession(query, parts, { collection, user, origin });
    const { clientAddress } = origin.context;
    await parts.lockout.clear({ realm: collection.id, email: user.email, clientAddress });
    return session;
  }
  await attempt?.giveBack();
  const token = await issueOneTimeToken(query, {
    purpose: 'mfa',
    collectionId: collection.id,
    accountId: user.id,
    data: { ...mfaData, token_version: user.tokenVersion },
    nowSec: parts.nowSec(),
    lifetimeSec: mfaLifetimeSec,
    replaces: false,
  });
  return { mfa_required: true, mfa_token: token };
}
