import { auditUser, deleteLinks, listLinkedProviders, lockUser, noteRemovedWays } from '@recordbus/accounts';
import { conflict, notFound, unauthenticated } from '@recordbus/errors';
import type { Collection } from '@recordbus/schema';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { runInUnit } from '../auth-unit.ts';
import { isOnlyWayIn } from '../identity/only-way-in.ts';
import { type CallerProof, proveCaller } from '../identity/proof-of-caller.ts';

/**
 * Removes a user's links to a provider and notifies the user by mail (oauth §6.3). Throws 403 for a caller without the
 * proof, 404 when there is no link, 409 when the user has no other way to sign in.
 */
export async function unlink(
  parts: Pick<AuthParts, 'database' | 'bus' | 'guessLimit' | 'nowSec' | 'settings'>,
  collection: Collection,
  proof: CallerProof,
  provider: string,
  origin: Origin,
): Promise<void> {
  const { database } = parts;
  const { userId } = proof;
  if (!(await listLinkedProviders(database.query, userId)).includes(provider)) throw notFound('link');
  await proveCaller(parts, collection, 'fresh', proof);
  await runInUnit(parts, async ({ query, due }) => {
    // Locked, so that one link stays when two are removed at once.
    const user = await lockUser(query, collection, userId);
    if (!user) throw unauthenticated();
    const linked = await listLinkedProviders(query, userId);
    if (!linked.includes(provider)) throw notFound('link');
    if (await isOnlyWayIn(query, parts, collection, user, 'oauth2'))
      throw conflict('last_way_in', 'this link is the only way to sign in: set a password or add a passkey first');
    await deleteLinks(query, userId, provider);
    await noteRemovedWays(query, collection, user, { removed: ['links'], providers: [provider] });
    await auditUser(query, 'users.oauth_unlink', collection, userId, origin, { provider });
    due.add('notifyGateways');
  });
}
