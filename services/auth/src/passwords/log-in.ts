import { findUserByEmail } from '@recordbus/accounts';
import type { Collection } from '@recordbus/schema';
import { AppError } from '@recordbus/shared/errors';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { completeSignIn, type SignedIn } from '../sign-in/complete-sign-in.ts';
import { checkPassword } from './check-password.ts';

interface Credentials {
  readonly email: string;
  readonly password: string;
}

/**
 * Signs a user in by address and password. Throws the same 401 after the same time for a wrong password and an unknown
 * address (contract §4), and 429 when either is locked out, whatever the password.
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

/** 401 for a first factor that is wrong, whatever is wrong with it. */
export const invalidCredentials = () => new AppError(401, 'invalid_credentials', 'invalid credentials');
