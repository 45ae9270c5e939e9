import type { Query } from '@recordbus/database';
import { type Collection, tableOf } from '@recordbus/schema';
import { z } from 'zod';
import { selectUser, type User } from '../user.ts';

/** A user's link to an identity at a provider (oauth §6.1). */
export const oauthLink = z
  .object({
    provider: z.string(),
    /** Services from the previous release omit it: then the settings decide about the issuer (`system.token_address`). */
    issuer: z.string().optional(),
    providerUserId: z.string(),
    nowSec: z.int(),
  })
  .readonly();

/**
 * Links a user; false when the identity is already linked, even by a parallel request. The column `provider_user_id` is
 * the previous release's key, which has no issuers: it is unique without one.
 */
export async function insertLink(
  query: Query,
  collection: Collection,
  accountId: string,
  { provider, issuer, providerUserId, nowSec }: z.infer<typeof oauthLink>,
): Promise<boolean> {
  const rows = await query({
    text: `insert into system.oauth_links
        (collection_id, provider, issuer, subject, provider_user_id, account_id, created_at)
      select $1, $2, $3, $4, case when exists (
          select from system.oauth_links where collection_id = $1 and provider = $2 and provider_user_id = $4
        ) then $4::text || ' ' || $3::text else $4::text end, $5, $6
      on conflict do nothing returning 1`,
    values: [collection.id, provider, issuer ?? '', providerUserId, accountId, nowSec],
  });
  return rows.length > 0;
}

/** A link's identity: a provider, its issuer, and the user's id there. */
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

/** A user's link, as the user sees it. */
export interface OwnLink {
  readonly provider: string;
  /** The user's id at the provider. */
  readonly providerUserId: string;
  readonly createdAtSec: number;
}

/** Lists a user's links, the oldest first. */
export const listLinks = (query: Query, accountId: string): Promise<OwnLink[]> =>
  query<OwnLink>({
    text: `select provider, subject as "providerUserId", created_at as "createdAtSec" from system.oauth_links
      where account_id = $1 order by created_at, provider, subject`,
    values: [accountId],
  });

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
