import { requireProof } from '@recordbus/accounts';
import { type AuditedAction, recordAudit } from '@recordbus/audit';
import type { Database, Query } from '@recordbus/database';
import { notFound, unauthenticated } from '@recordbus/errors';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { findAdminByEmail, findAdminById } from '../users/admins.ts';
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
import { adminAccounts } from './factor-accounts.ts';
import { countRecoveryCodes, removeRecoveryCodes } from './recovery-codes.ts';
import { limitSecondFactors } from './second-factor-limit.ts';
import { findTotp, resetTotp } from './totp-rows.ts';

type Parts = Pick<AuthParts, 'database' | 'settings' | 'cipher' | 'guessLimit' | 'nowSec'>;

/** The admin who asks, and the request. */
export interface CallingAdmin {
  readonly id: string;
  readonly origin: Origin;
}

/** Whether an admin has an app, and the recovery codes. */
export async function adminFactorStatus({ database }: Parts, { id }: CallingAdmin) {
  const { isEnabled } = await getTotp(database.query, id);
  return { enabled: isEnabled, recovery_codes: await countRecoveryCodes(database.query, id) };
}

/** Creates an app's secret, which takes effect with its confirmation. Throws 403 without the password, 409. */
export async function setUpAdminApp(parts: Parts, caller: CallingAdmin, oldPassword: unknown): Promise<TotpSetup> {
  if ((await getTotp(parts.database.query, caller.id)).isEnabled) throw alreadyEnrolled();
  return offerApp(parts, adminAccounts, await proveAdmin(parts, caller, oldPassword));
}

/** Enables the app with its first code; returns the recovery codes. Throws 422, 409. */
export async function confirmAdminApp(parts: Parts, caller: CallingAdmin, code: string): Promise<readonly string[]> {
  const totp = await getTotp(parts.database.query, caller.id);
  const limit = limitSecondFactors(parts, adminAccounts, caller.id);
  await limit.reserve();
  const typed = { userId: caller.id, code };
  const codes = await enableApp(parts, adminAccounts, totp, typed, audit('admins.mfa_enable', caller));
  await limit.clear();
  return codes;
}

/** Removes the app and the recovery codes. Throws 403 without the password, 422 for a wrong code, 429 after too many. */
export async function removeAdminApp(
  parts: Parts,
  caller: CallingAdmin,
  given: { readonly code: string; readonly oldPassword: unknown },
): Promise<void> {
  const totp = await getTotp(parts.database.query, caller.id);
  if (!totp.isEnabled) throw notEnrolled();
  await proveAdmin(parts, caller, given.oldPassword);
  const limit = limitSecondFactors(parts, adminAccounts, caller.id);
  await limit.reserve();
  const accepted = await readCode(parts, totp, { userId: caller.id, code: given.code });
  await parts.database.transaction(async (query) => {
    await dropApp(query, adminAccounts, accepted);
    await audit('admins.mfa_disable', caller)(query);
  });
  await limit.clear();
}

/** Replaces the recovery codes and returns the new ones. Throws 403 without the password, 422 without an app. */
export async function replaceAdminCodes(parts: Parts, caller: CallingAdmin, oldPassword: unknown) {
  if (!(await getTotp(parts.database.query, caller.id)).isEnabled) throw notEnrolled();
  await proveAdmin(parts, caller, oldPassword);
  return replaceCodes(parts, adminAccounts, caller.id, audit('admins.mfa_recovery_codes', caller));
}

/** Removes the second factor from the admin with this address, who has lost it. Throws 404, 422 without an app. */
export async function resetAdminFactor(
  database: Database,
  email: string,
  author: Pick<AuditedAction, 'context' | 'userAgent'>,
): Promise<{ readonly id: string }> {
  const admin = await findAdminByEmail(database.query, email);
  if (!admin) throw notFound(`admin ${email}`);
  await database.transaction(async (query) => {
    if (!(await resetTotp(query, adminAccounts, admin.id))) throw notEnrolled();
    await removeRecoveryCodes(query, admin.id);
    await recordAudit(query, { ...author, action: 'admins.mfa_reset', target: { type: 'admin', id: admin.id } });
  });
  return { id: admin.id };
}

/** Checks the asking admin's password. Throws 401, 403 `proof_required`, 429. */
export async function proveAdmin(
  { database, guessLimit, nowSec }: Pick<Parts, 'database' | 'guessLimit' | 'nowSec'>,
  { id, origin }: CallingAdmin,
  oldPassword: unknown,
) {
  const admin = await findAdminById(database.query, id);
  if (!admin) throw unauthenticated();
  const { principal } = origin.context;
  await requireProof({ query: database.query, guessLimit, nowSec }, admin, { principal, oldPassword });
  return admin;
}

async function getTotp(query: Query, id: string) {
  const totp = await findTotp(query, adminAccounts, id);
  if (!totp) throw unauthenticated();
  return totp;
}

const audit =
  (action: string, { id, origin: { context, userAgent } }: CallingAdmin) =>
  (query: Query): Promise<void> =>
    recordAudit(query, { action, context, userAgent, target: { type: 'admin', id } });
