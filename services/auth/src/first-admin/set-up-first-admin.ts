import { newId } from '@recordbus/database';
import { AppError, conflict } from '@recordbus/errors';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { type AdminAccount, hasAdmin } from '../users/admins.ts';
import { hasSetupToken, insertFirstAdmin } from './first-admins.ts';
import { hashSetupToken } from './setup-token.ts';

interface SetUp {
  readonly token: string;
  readonly email: string;
  readonly password: string;
}

/**
 * Creates the first admin for a set-up token's holder (admins §1.1). Throws 409 once an admin exists, 401 for a wrong
 * token, 422 for a password that the policy refuses. Exactly one of several parallel calls succeeds.
 */
export async function setUpFirstAdmin(
  { database, passwords, nowSec }: Pick<AuthParts, 'database' | 'passwords' | 'nowSec'>,
  { token, email, password }: SetUp,
  origin: Origin,
): Promise<AdminAccount> {
  if (await hasAdmin(database.query)) throw adminExists();
  if (!(await hasSetupToken(database.query, hashSetupToken(token)))) {
    // Another set-up may have succeeded in the meantime and removed the tokens.
    if (await hasAdmin(database.query)) throw adminExists();
    throw new AppError(401, 'invalid_setup_token', 'the set-up token is wrong');
  }
  const admin = {
    id: newId(),
    email,
    passwordHash: await passwords.hashNew(password),
    tokenVersion: 0,
    totpEnabled: false,
  };
  if (!(await insertFirstAdmin(database, admin, nowSec(), origin))) throw adminExists();
  return admin;
}

const adminExists = () => conflict('admin_exists', 'an admin exists already');
