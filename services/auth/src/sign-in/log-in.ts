import { findUserByEmail, findUserByIdentity } from '@recordbus/accounts';
import { AppError, validationFailed } from '@recordbus/errors';
import type { Collection } from '@recordbus/schema';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { checkPassword } from '../passwords/check-password.ts';
import { completeSignIn, type SignedIn } from './complete-sign-in.ts';

/**
 * A password, with the account's address, or with an identity: the address or another unique field's value. With `field`
 * it is looked for in this field only.
 */
export type Credentials = { readonly password: string } & (
  | { readonly email: string }
  | { readonly identity: string; readonly field?: string | undefined }
);

/**
 * Signs a user in with a password (auth §4.1). Throws the same 401 after the same time for a wrong password and an
 * unknown account, 403 after a right password that must be reset, and 429 when the account or the client is locked out,
 * even for the right password.
 */
export async function logIn(
  parts: AuthParts,
  collection: Collection,
  credentials: Credentials,
  origin: Origin,
): Promise<SignedIn> {
  const { database, lockout } = parts;
  const { clientAddress } = origin.context;
  const { password } = credentials;
  const { user, email } = await findNamed(parts, collection, credentials);
  const attempt = await lockout.reserve({ realm: collection.id, email, clientAddress });
  if (!(await checkPassword(database.query, collection, user, password)) || !user) throw invalidCredentials();
  return completeSignIn(database.query, parts, { collection, user, origin, factor: 'password', attempt });
}

/**
 * Finds the account that credentials name, and the address by which the lockout counts it: all identities of an account
 * count together (auth §4.3), unknown ones by themselves.
 */
async function findNamed(
  { database, settings }: Pick<AuthParts, 'database' | 'settings'>,
  collection: Collection,
  credentials: Credentials,
) {
  if ('email' in credentials) {
    const { email } = credentials;
    return { user: await findUserByEmail(database.query, collection, email), email };
  }
  const { identity, field } = credentials;
  const fields = ['email', ...settings.getNamed('auth.identity.<collection>', collection.name)];
  if (field !== undefined && !fields.includes(field))
    throw validationFailed({ identity_field: `must be one of: ${fields.join(', ')}` });
  const user = await findUserByIdentity(database.query, collection, identity, field === undefined ? fields : [field]);
  return { user, email: user?.email ?? identity };
}

/** 401 for a wrong password or an unknown address. */
export const invalidCredentials = () => new AppError(401, 'invalid_credentials', 'invalid credentials');
