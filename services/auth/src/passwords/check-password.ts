import { replaceUserHash, type User } from '@recordbus/accounts';
import { findRightForm, hashPassword, needsRehash, needsReset } from '@recordbus/crypto';
import type { Query } from '@recordbus/database';
import { AppError } from '@recordbus/errors';
import type { Collection } from '@recordbus/schema';

/**
 * Checks a user's password. It computes as many hashes for a user who does not exist, or has no password or one whose
 * hash costs too much (auth §4.1). It replaces a hash that has other parameters (auth §2.2). Throws 403 after the right
 * password if it must be reset.
 */
export async function checkPassword(
  query: Query,
  collection: Collection,
  user: User | undefined,
  password: string,
): Promise<boolean> {
  const passwordHash = user?.passwordHash ?? undefined;
  const rightForm = await findRightForm(passwordHash, password);
  if (!user || !passwordHash || rightForm === undefined) return false;
  if (needsReset(passwordHash)) throw passwordResetRequired();
  if (needsRehash(passwordHash, rightForm))
    await replaceUserHash(query, collection, user, await hashPassword(password));
  return true;
}

/** 403 for a right password that only its holder may replace, by a reset (auth §2.2). */
const passwordResetRequired = () =>
  new AppError(403, 'password_reset_required', 'the password must be reset before it can be used again');
