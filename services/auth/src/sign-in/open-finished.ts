import type { User } from '@recordbus/accounts';
import type { Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { makeLink, readLink } from '../identity/make-link.ts';
import { type Profile, readPendingProfile } from '../identity/provider-profile.ts';
import { openUserSession, type UserSession } from '../sessions/user-sessions.ts';

/** A session; after a merge the linked provider, after an exchange the profile. */
export type FinishedSignIn = UserSession & { readonly linked_provider?: string; readonly profile?: Profile };

interface Finished {
  readonly collection: Collection;
  readonly user: User;
  readonly origin: Origin;
  readonly factors: readonly string[];
  /** What the sign-in does besides: a link that it makes, a profile that it answers. */
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * Opens the session of a sign-in that is whole. The caller has checked every proof. Throws like `openUserSession`, and 409
 * when the identity to link now belongs to another user.
 */
export async function openFinished(
  query: Query,
  parts: Pick<AuthParts, 'settings' | 'signer' | 'encryption' | 'schema' | 'nowSec'>,
  { collection, user, origin, factors, data }: Finished,
): Promise<FinishedSignIn> {
  const link = data.link ? readLink(data) : undefined;
  const linked = link && (await makeLink(query, parts, collection, user, link, origin));
  const session = await openUserSession(query, parts, { collection, user, origin, factors });
  return { ...session, ...(linked && { linked_provider: linked }), ...readPendingProfile(data) };
}
