import type { Query } from '@recordbus/database';
import { AppError } from '@recordbus/errors';
import type { AuthParts } from '../auth-parts.ts';
import { findOneTimeToken, guessOneTimeToken } from '../one-time/one-time-tokens.ts';
import { invalidToken } from '../verification/verification.ts';
import type { FactorAccounts } from './factor-accounts.ts';
import { digestTypedCode, useRecoveryCode } from './recovery-codes.ts';
import { limitSecondFactors } from './second-factor-limit.ts';
import { findTotpStep } from './totp-code.ts';
import { findTotp, useTotpCode } from './totp-rows.ts';

/** A code from the authenticator app, or a recovery code. */
export type SecondFactor = { readonly code: string } | { readonly recoveryCode: string };

/** An `mfa_token`'s lifetime (auth §6.3). */
export const mfaLifetimeSec = 300;

/**
 * Reads the sign-in behind an `mfa_token`, and counts the try before the factor is checked. Throws 401 for a bad token,
 * including one with five wrong factors, and 429 after too many wrong factors on the account.
 */
export async function tryMfaToken(
  parts: Pick<AuthParts, 'database' | 'guessLimit' | 'nowSec'>,
  accounts: FactorAccounts,
  mfaToken: string,
) {
  const { query } = parts.database;
  const presented = { purpose: 'mfa', collectionId: accounts.realm, token: mfaToken, nowSec: parts.nowSec() } as const;
  const begun = await findOneTimeToken(query, presented);
  if (!begun) throw invalidToken();
  const limit = limitSecondFactors(parts, accounts, begun.accountId);
  await limit.reserve();
  const found = await guessOneTimeToken(query, presented);
  if (!found) throw invalidToken();
  return { found, limit };
}

/**
 * Checks a factor and returns the function that uses it up. That function returns false when another request has used
 * the factor. Throws 401 for a wrong factor.
 */
export async function readFactor(
  { database, cipher, nowSec }: Pick<AuthParts, 'database' | 'cipher' | 'nowSec'>,
  accounts: FactorAccounts,
  userId: string,
  factor: SecondFactor,
): Promise<(query: Query) => Promise<boolean>> {
  if ('recoveryCode' in factor) {
    const digest = await digestTypedCode(database.query, userId, factor.recoveryCode);
    if (digest === undefined) throw wrongFactor();
    return (query) => useRecoveryCode(query, { accountId: userId, digest, nowSec: nowSec() });
  }
  const stored = (await findTotp(database.query, accounts, userId))?.stored;
  const secret = stored ? cipher.decrypt(stored) : undefined;
  const step = secret === undefined ? undefined : await findTotpStep(secret, factor.code, nowSec());
  if (!stored || step === undefined) throw wrongFactor();
  return (query) => useTotpCode(query, accounts, { userId, stored, step });
}

/** 401: the factor is wrong or used. */
export const wrongFactor = () => new AppError(401, 'invalid_code', 'the code is wrong or was used already');
