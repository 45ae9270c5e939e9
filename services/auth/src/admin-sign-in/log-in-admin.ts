import { hashPassword, needsRehash, verifyPassword } from '@recordbus/crypto';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { invalidCredentials } from '../passwords/log-in.ts';
import { type AdminSession, openAdminSession } from '../sessions/admin-sessions.ts';
import { findAdminByEmail, replacePasswordHash } from './admins.ts';

interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** Under which admins' logins are counted; no collection has such an id. */
const realm = 'admins';

/**
 * Signs an admin in. A wrong password and an unknown address are the same 401 after the same time (contract §4); 429
 * when either is locked out.
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
