import { auditUser, findUserById, noteRemovedWays } from '@recordbus/accounts';
import type { Query } from '@recordbus/database';
import { forbidden, unauthenticated } from '@recordbus/errors';
import type { Collection } from '@recordbus/schema';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { runInUnit } from '../auth-unit.ts';
import { requireFeature } from '../features.ts';
import { type CallerProof, proveCaller } from '../identity/proof-of-caller.ts';
import {
  alreadyEnrolled,
  dropApp,
  enableApp,
  notEnrolled,
  offerApp,
  readCode,
  replaceCodes,
  type TotpSetup,
} from './apps.ts';
import { usersOf } from './factor-accounts.ts';
import { countRecoveryCodes } from './recovery-codes.ts';
import { limitSecondFactors } from './second-factor-limit.ts';
import { findTotp } from './totp-rows.ts';

type Parts = Pick<AuthParts, 'database' | 'bus' | 'settings' | 'cipher' | 'guessLimit' | 'nowSec'>;

/**
 * Creates an authenticator app's secret, which takes effect with its confirmation (auth §6.1). Throws 403 for a caller
 * without the proof, 409 for a user who has an app, 422 while set-up is switched off (auth §1.6).
 */
export async function setUpTotp(parts: Parts, collection: Collection, proof: CallerProof): Promise<TotpSetup> {
  requireFeature(parts.settings, 'auth.mfa.enabled');
  const { userId } = proof;
  const { email, isEnabled } = await getTotp(parts, collection, userId);
  const user = await findUserById(parts.database.query, collection, userId);
  if (user?.isAnonymous) throw forbidden('an anonymous user has no sign-in that a code could protect');
  if (isEnabled) throw alreadyEnrolled();
  await proveCaller(parts, collection, 'fresh', proof);
  return offerApp(parts, usersOf(collection), { id: userId, email });
}

/**
 * Enables the app with its first code; returns the recovery codes (auth §6.2). `also` runs in the same transaction. Throws
 * 422, 409.
 */
export async function confirmTotp(
  parts: Parts,
  collection: Collection,
  userId: string,
  code: string,
  origin: Origin,
  also?: (query: Query) => Promise<void>,
) {
  requireFeature(parts.settings, 'auth.mfa.enabled');
  const totp = await getTotp(parts, collection, userId);
  return enableApp(parts, usersOf(collection), totp, { userId, code }, async (query) => {
    await auditUser(query, 'users.mfa_enable', collection, userId, origin);
    await also?.(query);
  });
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
  const limit = limitSecondFactors(parts, usersOf(collection), userId);
  await limit.reserve();
  const accepted = await readCode(parts, totp, { userId, code });
  await runInUnit(parts, async ({ query, due }) => {
    await dropApp(query, usersOf(collection), accepted);
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
  return replaceCodes(parts, usersOf(collection), userId, (query) =>
    auditUser(query, 'users.mfa_recovery_codes', collection, userId, origin),
  );
}

/** Returns how many recovery codes there are and how many are unused. */
export async function recoveryStatus(parts: Parts, collection: Collection, userId: string) {
  await getTotp(parts, collection, userId);
  return countRecoveryCodes(parts.database.query, userId);
}

async function getTotp({ database }: Pick<Parts, 'database'>, collection: Collection, userId: string) {
  const totp = await findTotp(database.query, usersOf(collection), userId);
  if (!totp) throw unauthenticated();
  return totp;
}
