import type { Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import { z } from 'zod';

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
