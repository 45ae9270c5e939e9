import { refuseBlocked, refuseSignIn, type User } from '@recordbus/accounts';
import type { Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import type { AuthParts, Origin } from '../auth-parts.ts';
import type { LoginAttempt } from '../lockout/lockout.ts';
import { issueOneTimeToken } from '../one-time/one-time-tokens.ts';
import { bothFactors, type FirstFactor } from '../sessions/factors.ts';
import { openUserSession, type UserSession } from '../sessions/user-sessions.ts';
import { mfaLifetimeSec } from '../totp/second-factor.ts';

/** The answer to a right first factor (auth §6.3). */
export type SignedIn = UserSession | { readonly mfa_required: true; readonly mfa_token: string };

/** A proved first factor. */
interface Proved {
  readonly collection: Collection;
  readonly user: User;
  readonly origin: Origin;
  readonly factor: FirstFactor;
  /** The reserved attempt for a factor that can be guessed. */
  readonly attempt?: LoginAttempt | undefined;
  /** Whether the factor was two: a passkey whose authenticator verified the user. */
  readonly hasBothFactors?: boolean;
  /** Data for the second factor, such as a link that it makes. */
  readonly mfaData?: Readonly<Record<string, unknown>>;
}

/**
 * Completes every first factor (password, one-time code, OAuth2, merge, passkey): opens a session, or issues the second-factor
 * token for a user with an authenticator app. No other function opens a session for a first factor. Throws 403 for a
 * user who is blocked or whom the `sign_in_rule` refuses, only after a right factor.
 */
export async function completeSignIn(
  query: Query,
  parts: Pick<AuthParts, 'settings' | 'signer' | 'encryption' | 'schema' | 'nowSec' | 'lockout'>,
  { collection, user, origin, factor, attempt, hasBothFactors = false, mfaData = {} }: Proved,
): Promise<SignedIn> {
  await refuseBlocked(query, user.id);
  if (!user.totpEnabled || hasBothFactors) {
    const factors = hasBothFactors ? bothFactors(factor) : [factor];
    const session = await openUserSession(query, parts, { collection, user, origin, factors });
    const { clientAddress } = origin.context;
    await parts.lockout.clear({ realm: collection.id, email: user.email, clientAddress });
    return session;
  }
  await refuseSignIn(query, parts, collection, user.id);
  await attempt?.release();
  const token = await issueOneTimeToken(query, {
    purpose: 'mfa',
    collectionId: collection.id,
    accountId: user.id,
    data: { ...mfaData, factor, token_version: user.tokenVersion },
    nowSec: parts.nowSec(),
    lifetimeSec: mfaLifetimeSec,
    replaces: false,
  });
  return { mfa_required: true, mfa_token: token };
}
