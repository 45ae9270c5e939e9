import { findUserById, finishOneTimeToken } from '@recordbus/accounts';
import type { Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { hashOneTimeToken } from '../one-time/one-time-tokens.ts';
import type { Enrollment } from '../second-factors/enrollment.ts';
import { bothFactors, type SecondFactorName } from '../sessions/factors.ts';
import { confirmTotp } from '../totp/authenticator.ts';
import { invalidToken } from '../verification/verification.ts';
import { type FinishedSignIn, openFinished } from './open-finished.ts';

/**
 * Finishes a sign-in whose second factor has just been set up, in the same transaction: uses up the enrollment token and
 * opens a session. Throws 401 for a token that another request has used, or whose account has another password since.
 */
export async function finishEnrollment(
  query: Query,
  parts: AuthParts,
  collection: Collection,
  {
    enrollment,
    second,
    origin,
  }: {
    readonly enrollment: Enrollment;
    readonly second: SecondFactorName;
    readonly origin: Origin;
  },
): Promise<FinishedSignIn> {
  const { token, accountId, proved, data } = enrollment;
  if (!(await finishOneTimeToken(query, hashOneTimeToken(token)))) throw invalidToken();
  const user = await findUserById(query, collection, accountId);
  if (!user || user.tokenVersion !== data.token_version) throw invalidToken();
  const factors = bothFactors(...proved, second);
  const session = await openFinished(query, parts, { collection, user, origin, factors, data });
  const { clientAddress } = origin.context;
  await parts.lockout.clear({ realm: collection.id, email: user.email, clientAddress });
  return session;
}

/** Enables the app with its first code, and finishes the sign-in. Throws 401, 409, 422. */
export async function enrollApp(
  parts: AuthParts,
  collection: Collection,
  { enrollment, code }: { readonly enrollment: Enrollment; readonly code: string },
  origin: Origin,
): Promise<FinishedSignIn & { readonly codes: readonly string[] }> {
  let session: FinishedSignIn | undefined;
  const codes = await confirmTotp(parts, collection, enrollment.accountId, code, origin, async (query) => {
    session = await finishEnrollment(query, parts, collection, { enrollment, second: 'totp', origin });
  });
  if (!session) throw invalidToken();
  return { ...session, codes };
}
