import { finishOneTimeToken } from '@recordbus/accounts';
import { findRightForm, hashPassword, needsRehash } from '@recordbus/crypto';
import type { Query } from '@recordbus/database';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { hashOneTimeToken, issueOneTimeToken } from '../one-time/one-time-tokens.ts';
import { type AdminSession, openAdminSession } from '../sessions/admin-sessions.ts';
import { adminAccounts } from '../totp/factor-accounts.ts';
import { mfaLifetimeSec, readFactor, type SecondFactor, tryMfaToken, wrongFactor } from '../totp/second-factor.ts';
import { type AdminAccount, findAdminByEmail, findAdminById, replacePasswordHash } from '../users/admins.ts';
import { invalidToken } from '../verification/verification.ts';
import type { FactorRequired } from './complete-sign-in.ts';
import { invalidCredentials } from './log-in.ts';

interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** The answer to a right password: a session, or the token for the second factor. */
export type AdminSignIn = AdminSession | FactorRequired;

const { realm } = adminAccounts;

/**
 * Signs an admin in (admins §2). Throws the same 401 after the same time for a wrong password and an unknown address,
 * and 429 when the address or the client is locked out. An admin with an authenticator app gets the token for the second factor.
 */
export async function logInAdmin(
  parts: AuthParts,
  { email, password }: Credentials,
  origin: Origin,
): Promise<AdminSignIn> {
  const { database, lockout } = parts;
  const attempt = await lockout.reserve({ realm, email, clientAddress: origin.context.clientAddress });
  const admin = await findAdminByEmail(database.query, email);
  const rightForm = await findRightForm(admin?.passwordHash, password);
  if (!admin || rightForm === undefined) throw invalidCredentials();
  if (needsRehash(admin.passwordHash, rightForm))
    await replacePasswordHash(database.query, admin, await hashPassword(password));
  if (admin.totpEnabled) {
    await attempt.release();
    return requireAdminFactor(database.query, parts, admin);
  }
  const session = await openAdminSession(database.query, parts, admin, origin);
  await attempt.clear();
  return session;
}

/** Issues the token for an admin's second factor, which is always an app. */
export async function requireAdminFactor(
  query: Query,
  { nowSec }: Pick<AuthParts, 'nowSec'>,
  { id, tokenVersion }: AdminAccount,
): Promise<FactorRequired> {
  const token = await issueOneTimeToken(query, {
    purpose: 'mfa',
    collectionId: realm,
    accountId: id,
    data: { token_version: tokenVersion },
    nowSec: nowSec(),
    lifetimeSec: mfaLifetimeSec,
    replaces: false,
  });
  return { mfa_required: true, mfa_token: token };
}

/**
 * Finishes an admin's sign-in with a second factor (admins §2.1). Throws 401 for a bad token and for a wrong or used
 * factor, 429 after the admin's too many wrong factors.
 */
export async function finishAdminSignIn(
  parts: AuthParts,
  { mfaToken, factor }: { readonly mfaToken: string; readonly factor: SecondFactor },
  origin: Origin,
): Promise<AdminSession> {
  const { database, lockout } = parts;
  const { found, limit } = await tryMfaToken(parts, adminAccounts, mfaToken);
  const accept = await readFactor(parts, adminAccounts, found.accountId, factor);
  const { admin, session } = await database.transaction(async (query) => {
    if (!(await finishOneTimeToken(query, hashOneTimeToken(mfaToken)))) throw invalidToken();
    if (!(await accept(query))) throw wrongFactor();
    const admin = await findAdminById(query, found.accountId);
    if (!admin || admin.tokenVersion !== found.data.token_version) throw invalidToken();
    return { admin, session: await openAdminSession(query, parts, admin, origin) };
  });
  await limit.clear();
  await lockout.clear({ realm, email: admin.email, clientAddress: origin.context.clientAddress });
  return session;
}
