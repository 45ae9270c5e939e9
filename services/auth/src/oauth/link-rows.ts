import { selectUser, type User } from '@recordbus/accounts';
import type { Query } from '@recordbus/database';
import { type Collection, tableOf } from '@recordbus/schema';
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
