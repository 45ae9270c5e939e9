import type { User } from '@recordbus/accounts';
import { hashPassword, needsRehash, verifyPassword } from '@recordbus/crypto';
import type { Query } from '@recordbus/database';
import { type Collection, tableOf } from '@recordbus/schema';

/**
 * Is this the user's password? It takes as long for a user who does not exist or has none (contract §4). A hash of
 * older parameters is replaced.
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
    // The same password: neither an event nor a new version, and only if it was not changed meanwhile.
    await query({
      text: `update ${tableOf(collection)} set password_hash = $2 where id = $1 and password_hash = $3`,
      values: [user.id, await hashPassword(password), passwordHash],
    });
  return true;
}
