import { countWaysIn, type User } from '@recordbus/accounts';
import type { Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import type { AuthParts } from '../auth-parts.ts';
import { takesWay } from '../features.ts';

/** Whether an account has one way in, of this kind. A way that its collection does not take does not count. */
export async function isOnlyWayIn(
  query: Query,
  { settings }: Pick<AuthParts, 'settings'>,
  collection: Collection,
  user: Pick<User, 'id' | 'passwordHash'>,
  way: 'oauth2' | 'passkey',
): Promise<boolean> {
  const takes = (one: 'password' | 'oauth2' | 'passkey') => takesWay(settings, collection, one);
  return takes(way) && (await countWaysIn(query, user, takes)) === 1;
}
