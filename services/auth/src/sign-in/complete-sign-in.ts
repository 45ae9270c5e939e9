import { refuseBlocked, refuseSignIn, type User } from '@recordbus/accounts';
import type { Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import type { AuthParts, Origin } from '../auth-parts.ts';
import type { LoginAttempt } from '../lockout/lockout.ts';
import { issueOneTimeToken } from '../one-time/one-time-tokens.ts';
import { type EnrollmentRequired, requireEnrollment } from '../second-factors/enrollment.ts';
import { findMissingFactor } from '../second-factors/missing-factor.ts';
import { bothFactors, type FirstFactor, type SecondFactorName } from '../sessions/factors.ts';
import { mfaLifetimeSec } from '../totp/second-factor.ts';
import { codeLifetimeSec, mailSecondCode } from './mailed-factor.ts';
import { type FinishedSignIn, openFinished } from './open-finished.ts';

/** The answer to a first factor that needs a second one. */
export interface FactorRequired {
  readonly mfa_required: true;
  readonly mfa_token: string;
  /** What the second step takes. Absent for an app: its codes, and recovery codes. */
  readonly factors?: readonly SecondFactorName[];
}

/** The answer to a right first factor (auth §6.3, §6.10). */
export type SignedIn = FinishedSignIn | FactorRequired | EnrollmentRequired;

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
  /** What the sign-in does when it is whole, such as a link that it makes. */
  readonly data?: Readonly<Record<string, unknown>>;
}

/**
 * Completes every first factor (password, one-time code, OAuth2, merge, passkey): opens a session, or issues the token for
 * the second factor, or for its set-up. No other function opens a session for a first factor. Throws 403 for a user who is
 * blocked or whom the `sign_in_rule` refuses, only after a right factor; 422 if the second factor is a mailed code while
 * mail is not configured, 429 after too many such mails.
 */
export async function completeSignIn(
  query: Query,
  parts: AuthParts,
  { collection, user, origin, factor, attempt, hasBothFactors = false, data = {} }: Proved,
): Promise<SignedIn> {
  await refuseBlocked(query, user.id);
  const proved = hasBothFactors ? bothFactors(factor) : [factor];
  const missing = await findMissingFactor(query, parts, { collection, user, proved });
  if (missing === undefined) {
    const session = await openFinished(query, parts, { collection, user, origin, factors: proved, data });
    const { clientAddress } = origin.context;
    await parts.lockout.clear({ realm: collection.id, email: user.email, clientAddress });
    return session;
  }
  await attempt?.release();
  if (missing === 'enrollment')
    return requireEnrollment(query, parts, { collection, user, proved, provedAtSec: parts.nowSec(), data });
  await refuseSignIn(query, parts, collection, user.id);
  const token = await issueOneTimeToken(query, {
    purpose: 'mfa',
    collectionId: collection.id,
    accountId: user.id,
    data: {
      ...data,
      ...(missing === 'email' && (await mailSecondCode(query, parts, collection, user))),
      missing,
      factor,
      token_version: user.tokenVersion,
    },
    nowSec: parts.nowSec(),
    lifetimeSec: missing === 'email' ? codeLifetimeSec : mfaLifetimeSec,
    replaces: false,
  });
  return { mfa_required: true, mfa_token: token, ...(missing !== 'app' && { factors: [missing] }) };
}
