import { auditUser, insertLink, type User } from '@recordbus/accounts';
import type { Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import { type OauthProviderName, oauthProviderNames } from '@recordbus/settings';
import { conflict } from '@recordbus/shared/errors';
import { z } from 'zod';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { findLinkedUser, type Link } from './link-rows.ts';

const pending = z.object({ link: z.object({ provider: z.enum(oauthProviderNames), providerUserId: z.string() }) });

/** Reads the link that goes with a one-time token. Throws for a token that has none. */
export const readLink = (data: Readonly<Record<string, unknown>>): Link => pending.parse(data).link;

/**
 * Links a user, who has proved everything that is asked, and gives the provider. A link that is there already is fine
 * (interface §5, OAuth2); throws 409 when it is somebody else's.
 */
export async function makeLink(
  query: Query,
  { nowSec }: Pick<AuthParts, 'nowSec'>,
  collection: Collection,
  user: User,
  link: Link,
  origin: Origin,
): Promise<OauthProviderName> {
  const isNew = await insertLink(query, collection, user.id, { ...link, nowSec: nowSec() });
  if (isNew) await auditUser(query, 'users.oauth_link', collection, user.id, origin, { provider: link.provider });
  else if ((await findLinkedUser(query, collection, link))?.id !== user.id)
    throw conflict('already_linked', 'the account at the provider belongs to another user by now');
  return link.provider;
}
