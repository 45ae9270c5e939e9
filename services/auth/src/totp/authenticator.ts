import { auditUser, noteRemovedWays } from '@recordbus/accounts';
import type { Collection } from '@recordbus/schema';
import { AppError, conflict, forbidden, unauthenticated, validationFailed } from '@recordbus/shared/errors';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { runInUnit } from '../auth-unit.ts';
import { requireFeature } from '../features.ts';
import { type CallerProof, proveCaller } from '../identity/proof-of-caller.ts';
import { countRecoveryCodes, createRecoverySet, removeRecoveryCodes, replaceRecoveryCodes } from './recovery-codes.ts';
import { limitSecondFactors } from './second-factor-limit.ts';
import { findTotpStep, newTotpSecret, otpauthUrl } from './totp-code.ts';
import { dropTotp, enableTotp, findTotp, lockTotp, storeTotp, type TotpRow } from './totp-rows.ts';

type Parts = Pick<AuthParts, 'database' | 'bus' | 'settings' | 'cipher' | 'guessLimit' | 'nowSec'>;

/** The secret for the authenticator app. */
export interface TotpSetup {
  readonly secret: string;
  readonly otpauth_url: string;
}

/**
 * Creates the secret of an authenticator app, which takes effect with its confirmation (auth §6.1). Throws 403 for a
 * caller without the proof, 409 for a user who has an app, 422 while set-up is switched off (auth §1.6).
 */
export async function setUpTotp(parts: Parts, collection: Collection, proof: CallerProof): Promise<TotpSetup> {
  requireFeature(parts.settings, 'auth.mfa.enabled');
  const { database, settings, cipher } = parts;
  const { userId } = proof;
  const { email, isAnonymous, isEnabled } = await getTotp(parts, collection, userId);
  if (isAnonymous) throw forbidden('an anonymous user has no sign-in that a code could protect');
  if (isEnabled) throw alreadyEnrolled();
  await proveCaller(parts, collection, 'fresh', proof);
  const secret = newTotpSecret();
  if (!(await storeTotp(database.query, collection, userId, cipher.encrypt(secret)))) throw alreadyEnrolled();
  return { secret, otpauth_url: otpauthUrl(secret, { issuer: issuerOf(settings.get('app.url')), email }) };
}

/** Enables the app with its first code; returns the recovery codes (auth §6.2). Throws 422, 409. */
export async function confirmTotp(parts: Parts, collection: Collection, userId: string, code: string, origin: Origin) {
  requireFeature(parts.settings, 'auth.mfa.enabled');
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

/**
 * Removes the app and the recovery codes and notifies the user by mail (auth §6.8). Throws 403 for a caller without the
 * proof, 422 for a wrong code, 429 after too many.
 */
export async function disableTotp(
  parts: Parts,
  collection: Collection,
  proof: CallerProof,
  code: string,
  origin: Origin,
): Promise<void> {
  const { userId } = proof;
  const totp = await getTotp(parts, collection, userId);
  if (!totp.isEnabled) throw notEnrolled();
  const user = await proveCaller(parts, collection, 'password', proof);
  const limit = limitSecondFactors(parts, collection, userId);
  await limit.reserve();
  const accepted = await readCode(parts, totp, { userId, code });
  await runInUnit(parts, async ({ query, due }) => {
    if (!(await dropTotp(query, collection, accepted))) throw wrongCode();
    await removeRecoveryCodes(query, userId);
    await noteRemovedWays(query, collection, user, { removed: ['totp'], providers: [] });
    await auditUser(query, 'users.mfa_disable', collection, userId, origin);
    due.add('notifyGateways');
  });
  await limit.clear();
}

/**
 * Replaces the recovery codes and returns the new ones (auth §6.7). Throws 403 for a caller without the proof, 422 for
 * a user without an app.
 */
export async function regenerateRecoveryCodes(
  parts: Parts,
  collection: Collection,
  proof: CallerProof,
  origin: Origin,
) {
  const { userId } = proof;
  if (!(await getTotp(parts, collection, userId)).isEnabled) throw notEnrolled();
  await proveCaller(parts, collection, 'fresh', proof);
  const set = await createRecoverySet();
  await parts.database.transaction(async (query) => {
    if (!(await lockTotp(query, collection, userId))) throw notEnrolled();
    await replaceRecoveryCodes(query, { collectionId: collection.id, accountId: userId }, set);
    await auditUser(query, 'users.mfa_recovery_codes', collection, userId, origin);
  });
  return set.codes;
}

/** Returns how many recovery codes there are and how many are unused. */
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
  { cipher, nowSec }: Pick<Parts, 'cipher' | 'nowSec'>,
  { stored }: TotpRow,
  { userId, code }: { userId: string; code: string },
) {
  if (stored === null) throw notEnrolled();
  const secret = cipher.decrypt(stored);
  const step = secret === undefined ? undefined : await findTotpStep(secret, code, nowSec());
  if (step === undefined) throw wrongCode();
  return { userId, stored, step };
}

const issuerOf = (appUrl: string): string => (appUrl === '' ? 'Recordbus' : new URL(appUrl).hostname);

const alreadyEnrolled = () => conflict('totp_enabled', 'an authenticator app is in use already; disable it first');

const notEnrolled = () => new AppError(422, 'totp_not_enabled', 'no authenticator app is set up');

const wrongCode = () => validationFailed({ code: 'is wrong or was used already' });
