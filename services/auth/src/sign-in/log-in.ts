import { findUserByEmail } from '@recordbus/accounts';
import { AppError } from '@recordbus/errors';
import type { Collection } from '@recordbus/schema';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { checkPassword } from '../passwords/check-password.ts';
import { completeSignIn, type SignedIn } from './complete-sign-in.ts';

interface Credentials {
  readonly email: string;
  readonly password: string;
}

/**
 * Signs a user in with address and password (auth §4.1). Throws the same 401 after the same time for a wrong password and
 * an unknown address, 403 after a right password that must be reset, and 429 when the address or the client is locked
 * out, even for the right password.
 */
export async function logIn(
  parts: AuthParts,
  collection: Collection,
  { email, password }: Credentials,
  origin: Origin,
): Promise<SignedIn> {
  const { database, lockout } = parts;
  const { clientAddress } = origin.context;
  const attempt = await lockout.reserve({ realm: collection.id, email, clientAddress });
  const user = await findUserByEmail(database.query, collection, email);
  if (!(await checkPassword(database.query, collection, user, password)) || !user) throw invalidCredentials();
  return completeSignIn(database.query, parts, { collection, user, origin, attempt });
}

/** 401 for a wrong password or an unknown address. */
export const invalidCredentials = () => new AppError(401, 'invalid_credentials', 'invalid credentials');
