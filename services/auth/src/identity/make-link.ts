import { auditUser, findLinkedUser, insertLink, type Link, type User } from '@recordbus/accounts';
import type { Query } from '@recordbus/database';
import { conflict } from '@recordbus/errors';
import type { Collection } from '@recordbus/schema';
import { z } from 'zod';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { invalidToken } from '../verification/verification.ts';

const pendingLink = z.object({
  link: z.object({ provider: z.string(), issuer: z.string(), providerUserId: z.string() }),
});

/** Reads the link in a one-time token's data. Throws 401 for a token from an earlier version, which has none. */
export function readLink(data: Readonly<Record<string, unknown>>): Link {
  const read = pendingLink.safeParse(data);
  if (!read.success) throw invalidToken();
  return read.data.link;
}

/**
 * Links a user to an identity and returns the provider. The caller has checked every proof. The link may exist already
 * (oauth §5.2). Throws 409 when it belongs to another user.
 */
export async function makeLink(
  query: Query,
  { nowSec }: Pick<AuthParts, 'nowSec'>,
  collection: Collection,
  user: User,
  link: Link,
  origin: Origin,
): Promise<string> {
  const isNew = await insertLink(query, collection, user.id, { ...link, nowSec: nowSec() });
  if (isNew) await auditUser(query, 'users.oauth_link', collection, user.id, origin, { provider: link.provider });
  else if ((await findLinkedUser(query, collection, link))?.id !== user.id)
    throw conflict('already_linked', 'the account at the provider now belongs to another user');
  return link.provider;
}
