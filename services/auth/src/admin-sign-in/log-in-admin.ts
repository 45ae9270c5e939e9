import { hashPassword, needsRehash, verifyPassword } from '@recordbus/crypto';
import type { Database } from '@recordbus/database';
import { AppError } from '@recordbus/shared/errors';
import { type AdminAccount, findAdminByEmail, replacePasswordHash } from './admins.ts';

interface Credentials {
  readonly email: string;
  readonly password: string;
}

/**
 * The admin with this address and password. A wrong password and an unknown address are the same 401 after the same
 * time (contract §4).
 */
export async function logInAdmin({ system }: Database, { email, password }: Credentials): Promise<AdminAccount> {
  const admin = await findAdminByEmail(system, email);
  const isRight = await verifyPassword(admin?.passwordHash, password);
  if (!admin || !isRight) throw new AppError(401, 'invalid_credentials', 'invalid credentials');
  if (needsRehash(admin.passwordHash)) await replacePasswordHash(system, admin, await hashPassword(password));
  return admin;
}
