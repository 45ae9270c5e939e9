import { hasAccounts } from '@recordbus/accounts';
import { isStoredHash } from '@recordbus/crypto';
import type { Collection } from '@recordbus/schema';
import type { Body } from './import-row.ts';

/**
 * Removes a password's hash from a body. A new account stores it unchanged, even one that no sign-in computes (import
 * §4.3). Other passwords stay in the body and are hashed.
 */
export function takeHash(
  collection: Collection,
  body: Body,
): { readonly body: Body; readonly hash: string | undefined } {
  const { password, ...rest } = body;
  if (!hasAccounts(collection) || password === undefined) return { body, hash: undefined };
  // An empty cell: an account without a password.
  if (password === null) return { body: rest, hash: undefined };
  return typeof password === 'string' && isStoredHash(password)
    ? { body: rest, hash: password }
    : { body, hash: undefined };
}
