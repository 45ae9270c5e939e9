import { newId } from '@recordbus/database';
import { AppError, conflict } from '@recordbus/shared/errors';
import { type AdminAccount, hasAdmin } from '../admin-sign-in/admins.ts';
import type { AuthParts, Origin } from '../auth-parts.ts';
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
  { database, passwords, nowSec }: Pick<AuthParts, 'database' | 'passwords' | 'nowSec'>,
  { token, email, password }: SetUp,
  origin: Origin,
): Promise<AdminAccount> {
  if (await hasAdmin(database.query)) throw adminExists();
  if (!(await hasSetupToken(database.query, hashSetupToken(token))))
    throw new AppError(401, 'invalid_setup_token', 'the set-up token is wrong');
  const admin = { id: newId(), email, passwordHash: await passwords.hashNew(password), tokenVersion: 0 };
  if (!(await insertFirstAdmin(database, admin, nowSec(), origin))) throw adminExists();
  return admin;
}

const adminExists = () => conflict('admin_exists', 'an admin exists already');
