import type { Query } from '@recordbus/database';
import { AppError, conflict, validationFailed } from '@recordbus/errors';
import type { AuthParts } from '../auth-parts.ts';
import type { FactorAccounts } from './factor-accounts.ts';
import { createRecoverySet, removeRecoveryCodes, replaceRecoveryCodes } from './recovery-codes.ts';
import { findTotpStep, newTotpSecret, otpauthUrl } from './totp-code.ts';
import { type AcceptedCode, dropTotp, enableTotp, lockTotp, storeTotp, type TotpRow } from './totp-rows.ts';

type Parts = Pick<AuthParts, 'database' | 'settings' | 'cipher' | 'nowSec'>;

/** Writes a change's notes, in its transaction. */
type Note = (query: Query) => Promise<void>;

/** The secret for the authenticator app. */
export interface TotpSetup {
  readonly secret: string;
  readonly otpauth_url: string;
}

/** Creates an app's secret, which takes effect with its first code. Throws 409 for an account with an app. */
export async function offerApp(
  { database, settings, cipher }: Parts,
  accounts: FactorAccounts,
  { id, email }: { readonly id: string; readonly email: string },
): Promise<TotpSetup> {
  const secret = newTotpSecret();
  if (!(await storeTotp(database.query, accounts, id, cipher.encrypt(secret)))) throw alreadyEnrolled();
  return { secret, otpauth_url: otpauthUrl(secret, { issuer: issuerOf(settings.get('app.url')), email }) };
}

/** Enables the app with its first code; returns the recovery codes. Throws 422, 409. */
export async function enableApp(
  parts: Parts,
  accounts: FactorAccounts,
  totp: TotpRow,
  typed: { readonly userId: string; readonly code: string },
  note: Note,
): Promise<readonly string[]> {
  if (totp.isEnabled) throw alreadyEnrolled();
  const accepted = await readCode(parts, totp, typed);
  const set = await createRecoverySet();
  await parts.database.transaction(async (query) => {
    if (!(await enableTotp(query, accounts, accepted))) throw alreadyEnrolled();
    await replaceRecoveryCodes(query, { collectionId: accounts.realm, accountId: typed.userId }, set);
    await note(query);
  });
  return set.codes;
}

/** Removes the app, with its code, and the recovery codes. Throws 422 for a used code. */
export async function dropApp(query: Query, accounts: FactorAccounts, accepted: AcceptedCode): Promise<void> {
  if (!(await dropTotp(query, accounts, accepted))) throw wrongCode();
  await removeRecoveryCodes(query, accepted.userId);
}

/** Replaces the recovery codes and returns the new ones. Throws 422 for an account without an app. */
export async function replaceCodes(
  { database }: Pick<Parts, 'database'>,
  accounts: FactorAccounts,
  id: string,
  note: Note,
): Promise<readonly string[]> {
  const set = await createRecoverySet();
  await database.transaction(async (query) => {
    if (!(await lockTotp(query, accounts, id))) throw notEnrolled();
    await replaceRecoveryCodes(query, { collectionId: accounts.realm, accountId: id }, set);
    await note(query);
  });
  return set.codes;
}

/** Checks an authenticator code. Throws 422. */
export async function readCode(
  { cipher, nowSec }: Pick<Parts, 'cipher' | 'nowSec'>,
  { stored }: TotpRow,
  { userId, code }: { readonly userId: string; readonly code: string },
): Promise<AcceptedCode> {
  if (stored === null) throw notEnrolled();
  const secret = cipher.decrypt(stored);
  const step = secret === undefined ? undefined : await findTotpStep(secret, code, nowSec());
  if (step === undefined) throw wrongCode();
  return { userId, stored, step };
}

const issuerOf = (appUrl: string): string => (appUrl === '' ? 'Recordbus' : new URL(appUrl).hostname);

/** 409: an app is in use. */
export const alreadyEnrolled = () =>
  conflict('totp_enabled', 'an authenticator app is already in use; disable it first');

/** 422: no app is set up. */
export const notEnrolled = () => new AppError(422, 'totp_not_enabled', 'no authenticator app is set up');

const wrongCode = () => validationFailed({ code: 'is wrong or was used already' });
