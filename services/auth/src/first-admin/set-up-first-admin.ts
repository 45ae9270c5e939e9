import { findPasswordProblem, hashPassword } from '@recordbus/crypto';
import { type Database, newId } from '@recordbus/database';
import { AppError, conflict, validationFailed } from '@recordbus/shared/errors';
import { type AdminAccount, hasAdmin } from '../admin-sign-in/admins.ts';
import { hasSetupToken, insertFirstAdmin } from './first-admins.ts';
import { hashSetupToken } from './setup-token.ts';

interface SetUp {
  readonly token: string;
  readonly email: string;
  readonly password: string;
}

/**
 * Makes the first admin for whoever has a set-up token. Throws 409 once an admin exists, 401 for a wrong token, 422
 * for a password that the policy refuses. Of several at once exactly one wins.
 */
export async function setUpFirstAdmin(
  database: Database,
  { token, email, password }: SetUp,
  nowSec: number,
): Promise<AdminAccount> {
  if (await hasAdmin(database.system)) throw adminExists();
  if (!(await hasSetupToken(database.system, hashSetupToken(token))))
    throw new AppError(401, 'invalid_setup_token', 'the set-up token is wrong');
  const problem = findPasswordProblem(password);
  if (problem) throw validationFailed({ password: problem });
  const admin = { id: newId(), email, passwordHash: await hashPassword(password), tokenVersion: 0 };
  if (!(await insertFirstAdmin(database, admin, nowSec))) throw adminExists();
  return admin;
}

const adminExists = () => conflict('admin_exists', 'an admin exists already');
