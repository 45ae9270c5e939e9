import { hashPassword, needsRehash, verifyPassword } from '@recordbus/crypto';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { type AdminSession, openAdminSession } from '../sessions/admin-sessions.ts';
import { findAdminByEmail, replacePasswordHash } from '../users/admins.ts';
import { invalidCredentials } from './log-in.ts';

interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** The realm in which logins of admins are counted; no collection has this id. */
const realm = 'admins';

/**
 * Signs an admin in (admins §2). Throws the same 401 after the same time for a wrong password and an unknown address,
 * and 429 when the address or the client is locked out.
 */
export async function logInAdmin(
  parts: AuthParts,
  { email, password }: Credentials,
  origin: Origin,
): Promise<AdminSession> {
  const { database, lockout } = parts;
  const attempt = await lockout.reserve({ realm, email, clientAddress: origin.context.clientAddress });
  const admin = await findAdminByEmail(database.query, email);
  const isRight = await verifyPassword(admin?.passwordHash, password);
  if (!admin || !isRight) throw invalidCredentials();
  if (needsRehash(admin.passwordHash)) await replacePasswordHash(database.query, admin, await hashPassword(password));
  const session = await openAdminSession(database.query, parts, admin, origin);
  await attempt.clear();
  return session;
}
