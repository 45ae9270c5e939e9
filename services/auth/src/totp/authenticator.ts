import { auditUser } from '@recordbus/accounts';
import type { Collection } from '@recordbus/schema';
import { AppError, conflict, forbidden, unauthenticated, validationFailed } from '@recordbus/shared/errors';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { demandFeature } from '../features.ts';
import { countRecoveryCodes, createRecoverySet, removeRecoveryCodes, replaceRecoveryCodes } from './recovery-codes.ts';
import { limitSecondFactors } from './second-factor-limit.ts';
import { findTotpStep, newTotpSecret, otpauthUrl } from './totp-code.ts';
import { dropTotp, enableTotp, findTotp, lockTotp, storeTotp, type TotpRow } from './totp-rows.ts';

type Parts = Pick<AuthParts, 'database' | 'settings' | 'envelope' | 'guessLimit' | 'nowSec'>;

/** What a user puts into the authenticator app. */
export interface TotpSetup {
  readonly secret: string;
  readonly otpauth_url: string;
}

/**
 * Gives a user the secret of an authenticator app that is not in use yet. Throws 409 for a user who has one, 422 while
 * that is switched off; who has one may still sign in with it and give it up then (interface §2.7).
 */
export async function setUpTotp(parts: Parts, collection: Collection, userId: string): Promise<TotpSetup> {
  demandFeature(parts.settings, 'auth.mfa.enabled');
  const { database, settings, envelope } = parts;
  const { email, isAnonymous } = await getTotp(parts, collection, userId);
  if (isAnonymous) throw forbidden('an anonymous user has no sign-in that a code could protect');
  const secret = newTotpSecret();
  if (!(await storeTotp(database.query, collection, userId, envelope.seal(secret)))) throw alreadyEnrolled();
  return { secret, otpauth_url: otpauthUrl(secret, { issuer: issuerOf(settings.get('app.url')), email }) };
}

/** Takes the app into use with its first code, and gives the recovery codes. Throws 422, 409. */
export async function confirmTotp(parts: Parts, collection: Collection, userId: string, code: string, origin: Origin) {
  demandFeature(parts.settings, 'auth.mfa.enabled');
  const { database } = parts;
  const totp = await getTotp(parts, collection, userId);
  if (totp.isEnabled) throw alreadyEnrolled();
  const accepted = await readCode(parts, totp, { userId, code });
  const set = await createRecoverySet();
  await database.transaction(async (query) => {
    if (!(await enableTotp(query, collection, accepted))) throw alreadyEnrolled();
    await replaceRecoveryCodes(query, { collectionId: collection.id, accountId: userId }, set);
    await auditUser(query, 'users.mfa_enable', collection, userId, origin);
  });
  return set.codes;
}

/** Forgets the app and the recovery codes. Throws 422 for a wrong code, 429 for too many. */
export async function disableTotp(
  parts: Parts,
  collection: Collection,
  userId: string,
  code: string,
  origin: Origin,
): Promise<void> {
  const { database } = parts;
  const totp = await getTotp(parts, collection, userId);
  if (!totp.isEnabled) throw notEnrolled();
  const limit = limitSecondFactors(parts, collection, userId);
  await limit.reserve();
  const accepted = await readCode(parts, totp, { userId, code });
  await database.transaction(async (query) => {
    if (!(await dropTotp(query, collection, accepted))) throw wrongCode();
    await removeRecoveryCodes(query, userId);
    await auditUser(query, 'users.mfa_disable', collection, userId, origin);
  });
  await limit.clear();
}

/** Gives new recovery codes in place of the old ones. Throws 422 for a user without an app. */
export async function regenerateRecoveryCodes(parts: Parts, collection: Collection, userId: string, origin: Origin) {
  if (!(await getTotp(parts, collection, userId)).isEnabled) throw notEnrolled();
  const set = await createRecoverySet();
  await parts.database.transaction(async (query) => {
    if (!(await lockTotp(query, collection, userId))) throw notEnrolled();
    await replaceRecoveryCodes(query, { collectionId: collection.id, accountId: userId }, set);
    await auditUser(query, 'users.mfa_recovery_codes', collection, userId, origin);
  });
  return set.codes;
}

/** How many recovery codes there are, and how many are left. */
export async function recoveryStatus(parts: Parts, collection: Collection, userId: string) {
  await getTotp(parts, collection, userId);
  return countRecoveryCodes(parts.database.query, userId);
}

async function getTotp({ database }: Pick<Parts, 'database'>, collection: Collection, userId: string) {
  const totp = await findTotp(database.query, collection, userId);
  if (!totp) throw unauthenticated();
  return totp;
}

async function readCode(
  { envelope, nowSec }: Pick<Parts, 'envelope' | 'nowSec'>,
  { stored }: TotpRow,
  { userId, code }: { userId: string; code: string },
) {
  if (stored === null) throw notEnrolled();
  const secret = envelope.open(stored);
  const step = secret === undefined ? undefined : await findTotpStep(secret, code, nowSec());
  if (step === undefined) throw wrongCode();
  return { userId, stored, step };
}

const issuerOf = (appUrl: string): string => (appUrl === '' ? 'Recordbus' : new URL(appUrl).hostname);

const alreadyEnrolled = () => conflict('totp_enabled', 'an authenticator app is in use already; disable it first');

const notEnrolled = () => new AppError(422, 'totp_not_enabled', 'no authenticator app is set up');

const wrongCode = () => validationFailed({ code: 'is wrong or was used already' });
