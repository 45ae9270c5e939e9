import type { User } from '@recordbus/accounts';
import { hashPassword, needsRehash, verifyPassword } from '@recordbus/crypto';
import type { Query } from '@recordbus/database';
import { type Collection, tableOf } from '@recordbus/schema';

/**
 * Checks a user's password. It takes the same time for a user who does not exist or has no password (auth §4.1). It
 * replaces a hash that has other parameters (auth §2.2).
 */
export async function checkPassword(
  query: Query,
  collection: Collection,
  user: User | undefined,
  password: string,
): Promise<boolean> {
  const passwordHash = user?.passwordHash ?? undefined;
  const isRight = await verifyPassword(passwordHash, password);
  if (!user || !passwordHash || !isRight) return false;
  if (needsRehash(passwordHash))
    // The password stays the same, so there is no event and no new version. A parallel change of the password wins.
    await query({
      text: `update ${tableOf(collection)} set password_hash = $2 where id = $1 and password_hash = $3`,
      values: [user.id, await hashPassword(password), passwordHash],
    });
  return true;
}
