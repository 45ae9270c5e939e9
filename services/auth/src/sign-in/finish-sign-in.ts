import { findUserById, finishOneTimeToken } from '@recordbus/accounts';
import type { Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import { AppError } from '@recordbus/shared/errors';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { makeLink, readLink } from '../identity/make-link.ts';
import { type Profile, readPendingProfile } from '../identity/provider-profile.ts';
import { findOneTimeToken, guessOneTimeToken, hashOneTimeToken } from '../one-time/one-time-tokens.ts';
import { openUserSession, type UserSession } from '../sessions/user-sessions.ts';
import { digestTypedCode, useRecoveryCode } from '../totp/recovery-codes.ts';
import { limitSecondFactors } from '../totp/second-factor-limit.ts';
import { findTotpStep } from '../totp/totp-code.ts';
import { findTotp, useTotpCode } from '../totp/totp-rows.ts';
import { invalidToken } from '../verification/verification.ts';

/** A code of the authenticator app, or one of the recovery codes. */
export type SecondFactor = { readonly code: string } | { readonly recoveryCode: string };

/** A session; after a merge the linked provider, after an exchange the profile. */
export type FinishedSignIn = UserSession & { readonly linked_provider?: string; readonly profile?: Profile };

/**
 * Finishes a sign-in with a second factor (auth §6.4): uses up the `mfa_token` and opens a session. Throws 401 for a
 * bad token, including one with five wrong factors, and for a wrong or used factor; 429 after too many wrong factors of
 * the account; 409 when the identity to link now belongs to another user.
 */
export async function finishSignIn(
  parts: AuthParts,
  collection: Collection,
  { mfaToken, factor }: { readonly mfaToken: string; readonly factor: SecondFactor },
  origin: Origin,
): Promise<FinishedSignIn> {
  const { database, lockout, nowSec } = parts;
  const presented = { purpose: 'mfa', collectionId: collection.id, token: mfaToken, nowSec: nowSec() } as const;
  const begun = await findOneTimeToken(database.query, presented);
  if (!begun) throw invalidToken();
  const limit = limitSecondFactors(parts, collection, begun.accountId);
  await limit.reserve();
  const found = await guessOneTimeToken(database.query, presented);
  if (!found) throw invalidToken();
  const accept = await readFactor(parts, collection, found.accountId, factor);
  const { user, signedIn } = await database.transaction(async (query) => {
    if (!(await finishOneTimeToken(query, hashOneTimeToken(mfaToken)))) throw invalidToken();
    if (!(await accept(query))) throw wrongFactor();
    const user = await findUserById(query, collection, found.accountId);
    if (!user || user.tokenVersion !== found.data.token_version) throw invalidToken();
    const link = found.data.link ? readLink(found.data) : undefined;
    const linked = link && (await makeLink(query, parts, collection, user, link, origin));
    const session = await openUserSession(query, parts, { collection, user, origin });
    const pending = readPendingProfile(found.data);
    return { user, signedIn: { ...session, ...(linked && { linked_provider: linked }), ...pending } };
  });
  await limit.clear();
  await lockout.clear({ realm: collection.id, email: user.email, clientAddress: origin.context.clientAddress });
  return signedIn;
}

/**
 * Checks a factor; returns the function that uses it up, which returns false when another request has used it. Throws
 * 401 for a wrong factor.
 */
async function readFactor(
  { database, cipher, nowSec }: AuthParts,
  collection: Collection,
  userId: string,
  factor: SecondFactor,
): Promise<(query: Query) => Promise<boolean>> {
  if ('recoveryCode' in factor) {
    const digest = await digestTypedCode(database.query, userId, factor.recoveryCode);
    if (digest === undefined) throw wrongFactor();
    return (query) => useRecoveryCode(query, { accountId: userId, digest, nowSec: nowSec() });
  }
  const stored = (await findTotp(database.query, collection, userId))?.stored;
  const secret = stored ? cipher.decrypt(stored) : undefined;
  const step = secret === undefined ? undefined : await findTotpStep(secret, factor.code, nowSec());
  if (!stored || step === undefined) throw wrongFactor();
  return (query) => useTotpCode(query, collection, { userId, stored, step });
}

const wrongFactor = () => new AppError(401, 'invalid_code', 'the code is wrong or was used already');
