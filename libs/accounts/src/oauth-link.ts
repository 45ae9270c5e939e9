import type { Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import { z } from 'zod';

/** That a user is somebody whom a provider knows (interface §2.4). */
export const oauthLink = z.object({ provider: z.string(), providerUserId: z.string(), nowSec: z.int() }).readonly();

/** Links a user; false when the provider's user is somebody here already, perhaps since a moment ago. */
export async function insertLink(
  query: Query,
  collection: Collection,
  accountId: string,
  { provider, providerUserId, nowSec }: z.infer<typeof oauthLink>,
): Promise<boolean> {
  const rows = await query({
    text: `insert into system.oauth_links (collection_id, provider, provider_user_id, account_id, created_at)
      values ($1, $2, $3, $4, $5) on conflict (collection_id, provider, provider_user_id) do nothing returning 1`,
    values: [collection.id, provider, providerUserId, accountId, nowSec],
  });
  return rows.length > 0;
}
