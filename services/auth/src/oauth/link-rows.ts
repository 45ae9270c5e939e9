import type { Query } from '@recordbus/database';
import { type Collection, tableOf } from '@recordbus/schema';
import { selectUser, type User } from '../users/user.ts';
import type { Identity } from './identity.ts';

/** What a link says: this user is that user of the provider (interface §2.4). */
export type Link = Pick<Identity, 'provider' | 'providerUserId'>;

/** The user whom a provider's user is here. */
export async function findLinkedUser(
  query: Query,
  collection: Collection,
  { provider, providerUserId }: Link,
): Promise<User | undefined> {
  const [user] = await query<User>({
    text: `select ${selectUser(collection, 't')} from system.oauth_links l join ${tableOf(collection)} t on t.id = l.account_id
      where l.collection_id = $1 and l.provider = $2 and l.provider_user_id = $3`,
    values: [collection.id, provider, providerUserId],
  });
  return user;
}

/** Links a user; false when the provider's user is somebody here already, perhaps since a moment ago. */
export async function insertLink(
  query: Query,
  collection: Collection,
  accountId: string,
  { provider, providerUserId, nowSec }: Link & { readonly nowSec: number },
): Promise<boolean> {
  const rows = await query({
    text: `insert into system.oauth_links (collection_id, provider, provider_user_id, account_id, created_at)
      values ($1, $2, $3, $4, $5) on conflict (collection_id, provider, provider_user_id) do nothing returning 1`,
    values: [collection.id, provider, providerUserId, accountId, nowSec],
  });
  return rows.length > 0;
}

/** The providers by which a user can sign in. */
export async function listLinkedProviders(query: Query, accountId: string): Promise<string[]> {
  const rows = await query<{ provider: string }>({
    text: 'select distinct provider from system.oauth_links where account_id = $1',
    values: [accountId],
  });
  return rows.map(({ provider }) => provider);
}

/** Removes a user's links to a provider. */
export async function deleteLinks(query: Query, accountId: string, provider: string): Promise<void> {
  await query({
    text: 'delete from system.oauth_links where account_id = $1 and provider = $2',
    values: [accountId, provider],
  });
}
