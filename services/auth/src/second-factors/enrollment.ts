import { findUserById, refuseSignIn, type User } from '@recordbus/accounts';
import type { Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import { z } from 'zod';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { findOneTimeToken, issueOneTimeToken } from '../one-time/one-time-tokens.ts';
import { openUserSession, type UserSession } from '../sessions/user-sessions.ts';
import { findMissingFactor } from './missing-factor.ts';

/** The answer to a sign-in whose account must set up a second factor first (auth §6.10). */
export interface EnrollmentRequired {
  readonly mfa_enrollment_required: true;
  readonly enrollment_token: string;
}

/** As long as a sign-in is a proof (identity §5.2), so setting up asks for no other one. */
const lifetimeSec = 10 * 60;

/** The sign-in that waits for a second factor. */
interface Waiting {
  readonly collection: Collection;
  readonly user: User;
  readonly proved: readonly string[];
  /** When it was proved, in unix seconds; null for a session without a sign-in. */
  readonly provedAtSec: number | null;
  /** The session that was to be refreshed: a later token replaces its earlier ones. */
  readonly sessionId?: string | undefined;
  /** What the sign-in does when it is whole, such as a link that it makes. */
  readonly data?: Readonly<Record<string, unknown>>;
}

/**
 * Issues the token with which the user sets a second factor up, and then is signed in. Throws 403 for a user whom the
 * `sign_in_rule` refuses.
 */
export async function requireEnrollment(
  query: Query,
  { nowSec, schema }: Pick<AuthParts, 'nowSec' | 'schema'>,
  { collection, user, proved, provedAtSec, sessionId, data = {} }: Waiting,
): Promise<EnrollmentRequired> {
  await refuseSignIn(query, { schema }, collection, user.id);
  if (sessionId !== undefined)
    await query({
      text: `delete from system.one_time_tokens
        where account_id = $1 and purpose = 'enrollment' and data->>'session_id' = $2`,
      values: [user.id, sessionId],
    });
  const token = await issueOneTimeToken(query, {
    purpose: 'enrollment',
    collectionId: collection.id,
    accountId: user.id,
    data: {
      ...data,
      factors: proved,
      proved_at: provedAtSec,
      token_version: user.tokenVersion,
      ...(sessionId !== undefined && { session_id: sessionId }),
    },
    nowSec: nowSec(),
    lifetimeSec,
    // Sign-ins that begin on two devices both work.
    replaces: false,
  });
  return { mfa_enrollment_required: true, enrollment_token: token };
}

/** A sign-in that waits for a second factor, as its token says. */
export interface Enrollment {
  readonly token: string;
  readonly accountId: string;
  readonly proved: readonly string[];
  readonly provedAtSec: number | null;
  readonly data: Readonly<Record<string, unknown>>;
}

const tokenData = z.object({
  factors: z.array(z.string()),
  proved_at: z.int().nullable(),
  token_version: z.int(),
});

/**
 * Finds the sign-in that a token continues. Undefined for a wrong, used or expired one, and for one whose account has
 * another password since, has a second factor by now, or no longer needs one.
 */
export async function findEnrollment(
  { database, nowSec, ...parts }: Pick<AuthParts, 'database' | 'settings' | 'schema' | 'nowSec'>,
  collection: Collection,
  token: string,
): Promise<Enrollment | undefined> {
  const { query } = database;
  const presented = { purpose: 'enrollment', collectionId: collection.id, token, nowSec: nowSec() } as const;
  const found = await findOneTimeToken(query, presented);
  const read = tokenData.safeParse(found?.data).data;
  const user = found && (await findUserById(query, collection, found.accountId));
  if (!found || !read || user?.tokenVersion !== read.token_version) return undefined;
  const { factors: proved, proved_at: provedAtSec } = read;
  if ((await findMissingFactor(query, parts, { collection, user, proved })) !== 'enrollment') return undefined;
  return { token, accountId: found.accountId, proved, provedAtSec, data: found.data };
}

interface Opening {
  readonly collection: Collection;
  readonly user: User;
  readonly origin: Origin;
  readonly factors: readonly string[];
}

/**
 * Opens the session of a new or renewed sign-in without a second step: a registration, a promotion, a new password. A user
 * who must set up a second factor gets the token for it instead. Throws like `openUserSession`.
 */
export async function openOrEnroll(
  query: Query,
  parts: Pick<AuthParts, 'settings' | 'signer' | 'encryption' | 'schema' | 'nowSec'>,
  { collection, user, origin, factors }: Opening,
): Promise<UserSession | EnrollmentRequired> {
  const missing = await findMissingFactor(query, parts, { collection, user, proved: factors });
  if (missing !== 'enrollment') return openUserSession(query, parts, { collection, user, origin, factors });
  return requireEnrollment(query, parts, { collection, user, proved: factors, provedAtSec: parts.nowSec() });
}
