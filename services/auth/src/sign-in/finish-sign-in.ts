import { findUserById, finishOneTimeToken } from '@recordbus/accounts';
import type { Collection } from '@recordbus/schema';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { hashOneTimeToken } from '../one-time/one-time-tokens.ts';
import { bothFactors, firstFactor } from '../sessions/factors.ts';
import { usersOf } from '../totp/factor-accounts.ts';
import { tryMfaToken, wrongFactor } from '../totp/second-factor.ts';
import { invalidToken } from '../verification/verification.ts';
import { type FinishedSignIn, openFinished } from './open-finished.ts';
import { type OfferedFactor, readOfferedFactor } from './read-offered-factor.ts';

/**
 * Finishes a sign-in with a second factor (auth §6.4): uses up the `mfa_token` and opens a session. Throws 401 for a
 * bad token, including one with five wrong factors, and for a wrong or used factor; 429 after too many wrong factors on
 * the account; 409 when the identity to link now belongs to another user.
 */
export async function finishSignIn(
  parts: AuthParts,
  collection: Collection,
  { mfaToken, factor }: { readonly mfaToken: string; readonly factor: OfferedFactor },
  origin: Origin,
): Promise<FinishedSignIn> {
  const { database, lockout } = parts;
  const { found, limit } = await tryMfaToken(parts, usersOf(collection), mfaToken);
  const offered = await readOfferedFactor(parts, collection, found, factor);
  const { user, signedIn } = await database.transaction(async (query) => {
    if (!(await finishOneTimeToken(query, hashOneTimeToken(mfaToken)))) throw invalidToken();
    if (!(await offered.accept(query))) throw wrongFactor();
    const user = await findUserById(query, collection, found.accountId);
    if (!user || user.tokenVersion !== found.data.token_version) throw invalidToken();
    const factors = bothFactors(firstFactor.catch('password').parse(found.data.factor), offered.name);
    const signedIn = await openFinished(query, parts, { collection, user, origin, factors, data: found.data });
    return { user, signedIn };
  });
  await limit.clear();
  await lockout.clear({ realm: collection.id, email: user.email, clientAddress: origin.context.clientAddress });
  return signedIn;
}
