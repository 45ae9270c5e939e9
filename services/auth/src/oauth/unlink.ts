import { auditUser, lockUser } from '@recordbus/accounts';
import type { Collection } from '@recordbus/schema';
import { conflict, notFound, unauthenticated } from '@recordbus/shared/errors';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { deleteLinks, listLinkedProviders } from './link-rows.ts';

/**
 * Removes a user's own link to a provider. Throws 404 when there is none, 409 when nothing else would let the user in:
 * no password and no other provider (interface §5, OAuth2).
 */
export async function unlink(
  { database }: Pick<AuthParts, 'database'>,
  collection: Collection,
  userId: string,
  provider: string,
  origin: Origin,
): Promise<void> {
  await database.transaction(async (query) => {
    // Held, so that of two links that are removed at once one stays.
    const user = await lockUser(query, collection, userId);
    if (!user) throw unauthenticated();
    const linked = await listLinkedProviders(query, userId);
    if (!linked.includes(provider)) throw notFound('link');
    if (user.passwordHash === null && linked.length === 1)
      throw conflict('last_way_in', 'nothing else would let this user in: set a password first');
    await deleteLinks(query, userId, provider);
    await auditUser(query, 'users.oauth_unlink', collection, userId, origin, { provider });
  });
}
