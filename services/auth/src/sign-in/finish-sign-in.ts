import { findUserById, finishOneTimeToken } from '@recordbus/accounts';
import type { Collection } from '@recordbus/schema';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { makeLink, readLink } from '../identity/make-link.ts';
import { type Profile, readPendingProfile } from '../identity/provider-profile.ts';
import { hashOneTimeToken } from '../one-time/one-time-tokens.ts';
import { bothFactors, firstFactor } from '../sessions/factors.ts';
import { openUserSession, type UserSession } from '../sessions/user-sessions.ts';
import { usersOf } from '../totp/factor-accounts.ts';
import { readFactor, type SecondFactor, tryMfaToken, wrongFactor } from '../totp/second-factor.ts';
import { invalidToken } from '../verification/verification.ts';

/** A session; after a merge the linked provider, after an exchange the profile. */
export type FinishedSignIn = UserSession & { readonly linked_provider?: string; readonly profile?: Profile };

/**
 * Finishes a sign-in with a second factor (auth §6.4): uses up the `mfa_token` and opens a session. Throws 401 for a
 * bad token, including one with five wrong factors, and for a wrong or used factor; 429 after too many wrong factors on
 * the account; 409 when the identity to link now belongs to another user.
 */
export async function finishSignIn(
  parts: AuthParts,
  collection: Collection,
  { mfaToken, factor }: { readonly mfaToken: string; readonly factor: SecondFactor },
  origin: Origin,
): Promise<FinishedSignIn> {
  const { database, lockout } = parts;
  const { found, limit } = await tryMfaToken(parts, usersOf(collection), mfaToken);
  const accept = await readFactor(parts, usersOf(collection), found.accountId, factor);
  const { user, signedIn } = await database.transaction(async (query) => {
    if (!(await finishOneTimeToken(query, hashOneTimeToken(mfaToken)))) throw invalidToken();
    if (!(await accept(query))) throw wrongFactor();
    const user = await findUserById(query, collection, found.accountId);
    if (!user || user.tokenVersion !== found.data.token_version) throw invalidToken();
    const link = found.data.link ? readLink(found.data) : undefined;
    const linked = link && (await makeLink(query, parts, collection, user, link, origin));
    const second = 'code' in factor ? 'totp' : 'recovery_code';
    const factors = bothFactors(firstFactor.catch('password').parse(found.data.factor), second);
    const session = await openUserSession(query, parts, { collection, user, origin, factors });
    const pending = readPendingProfile(found.data);
    return { user, signedIn: { ...session, ...(linked && { linked_provider: linked }), ...pending } };
  });
  await limit.clear();
  await lockout.clear({ realm: collection.id, email: user.email, clientAddress: origin.context.clientAddress });
  return signedIn;
}
