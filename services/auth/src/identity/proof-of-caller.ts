import { findUserById, recentSignInSec, requireFreshProof, requireProof, type User } from '@recordbus/accounts';
import { unauthenticated } from '@recordbus/errors';
import type { RequestContext } from '@recordbus/request/context';
import type { Collection } from '@recordbus/schema';
import type { AuthParts } from '../auth-parts.ts';
import type { Enrollment } from '../second-factors/enrollment.ts';

/** The proof that a signed-in user offers to be the account's holder. */
export interface CallerProof {
  readonly userId: string;
  /** The body's `old_password`. */
  readonly oldPassword: string | undefined;
  readonly context: Pick<RequestContext, 'principal'>;
  /** The sign-in that waits for a second factor, if the caller has its token instead of a session. */
  readonly enrollment?: Pick<Enrollment, 'token' | 'provedAtSec'> | undefined;
}

type Parts = Pick<AuthParts, 'database' | 'guessLimit' | 'nowSec'>;

/**
 * The proof that an identity change requires (identity §5.2): `password` is the old password, or a recent sign-in if
 * the account has none; `fresh` is either one.
 */
export type Demand = 'password' | 'fresh';

/** Checks the signed-in user's proof; returns the user. Throws 401, 403 `proof_required`, 429. */
export async function proveCaller(
  { database, guessLimit, nowSec }: Parts,
  collection: Collection,
  demand: Demand,
  { userId, oldPassword, context, enrollment }: CallerProof,
): Promise<User> {
  const user = await findUserById(database.query, collection, userId);
  if (!user) throw unauthenticated();
  const provedAtSec = enrollment?.provedAtSec ?? 0;
  if (demand === 'fresh' && oldPassword === undefined && provedAtSec > nowSec() - recentSignInSec) return user;
  const deps = { query: database.query, guessLimit, nowSec };
  const offered = { principal: context.principal, oldPassword };
  await (demand === 'password' ? requireProof : requireFreshProof)(deps, user, offered);
  return user;
}
