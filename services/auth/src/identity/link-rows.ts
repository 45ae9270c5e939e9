import { selectUser, type User } from '@recordbus/accounts';
import type { Query } from '@recordbus/database';
import { type Collection, tableOf } from '@recordbus/schema';

/** A link's identity: a provider, its issuer, and the user's id there (oauth §6.1). */
export interface Link {
  readonly provider: string;
  readonly issuer: string;
  readonly providerUserId: string;
}

/** Picks an identity's link. */
export const linkOf = ({ provider, issuer, providerUserId }: Link): Link => ({ provider, issuer, providerUserId });

/** Finds the user who is linked to an identity. */
export async function findLinkedUser(
  query: Query,
  collection: Collection,
  { provider, issuer, providerUserId }: Link,
): Promise<User | undefined> {
  const [user] = await query<User>({
    text: `select ${selectUser(collection, 't')} from system.oauth_links l join ${tableOf(collection)} t on t.id = l.account_id
      where l.collection_id = $1 and l.provider = $2 and l.issuer = $3 and l.subject = $4`,
    values: [collection.id, provider, issuer, providerUserId],
  });
  return user;
}

/** Lists the providers that a user is linked to. */
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
