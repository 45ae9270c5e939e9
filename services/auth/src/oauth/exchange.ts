import { findUserByEmail, type User } from '@recordbus/accounts';
import { newId, type Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { completeSignIn, type SignedIn } from '../sign-in/complete-sign-in.ts';
import { syntheticAddress } from '../users/synthetic-address.ts';
import { makeUser } from '../users/write-user.ts';
import { canReceiveMail } from '../verification/verification.ts';
import type { Identity } from './identity.ts';
import { findLinkedUser } from './link-rows.ts';
import { type MergeRequired, requireMerge } from './merge.ts';
import { chooseVerifier } from './pkce.ts';

export interface ExchangeRequest {
  readonly provider: string;
  readonly code: string;
  readonly redirectUri: string;
  readonly state: string | undefined;
  readonly codeVerifier: string | undefined;
}

/**
 * Who it is that a provider gave a code; code and verifier are used up by it. Throws 422 for a provider that is not
 * enabled or refuses, 401 for a state that is used up, 502 when the provider fails.
 */
export async function identify(
  { database, oauth, nowSec }: Pick<AuthParts, 'database' | 'oauth' | 'nowSec'>,
  { id: collectionId }: Collection,
  { provider: name, code, redirectUri, state, codeVerifier: theirs }: ExchangeRequest,
): Promise<Identity> {
  const provider = await oauth.get(name);
  const where = { collectionId, provider, redirectUri, nowSec: nowSec() };
  const codeVerifier = await chooseVerifier(database.query, where, { state, codeVerifier: theirs });
  return provider.identify({ code, redirectUri, codeVerifier });
}

interface Entrant {
  readonly identity: Identity;
  /** Fields of the user, should they be a new one. */
  readonly record: Readonly<Record<string, unknown>>;
}

/**
 * Signs somebody in whom a provider knows (interface §5, On exchange): the user they are linked to, or a new one. Where
 * the provider vouches for an address that a user here has, the link has to be confirmed first. Throws 422 for a field
 * of a new user that is wrong or missing, naming it.
 */
export async function enter(
  parts: AuthParts,
  collection: Collection,
  { identity, record }: Entrant,
  origin: Origin,
): Promise<SignedIn | MergeRequired> {
  const known = await parts.database.transaction(async (query) => {
    const linked = await findLinkedUser(query, collection, identity);
    if (linked) return completeSignIn(query, parts, { collection, user: linked, origin });
    const match = await findMatch(query, collection, identity);
    return match && requireMerge(query, parts, collection, match, identity);
  });
  return known ?? enterAsNewUser(parts, collection, { identity, record }, origin);
}

/** The user whose address the provider vouches for; nobody by an address that was made up. */
async function findMatch(query: Query, collection: Collection, identity: Identity): Promise<User | undefined> {
  const { verifiedEmail } = identity;
  const user = verifiedEmail === undefined ? undefined : await findUserByEmail(query, collection, verifiedEmail);
  return user && canReceiveMail(user) ? user : undefined;
}

/** Makes a user whom only the link opens. Of several at once for one identity the first makes one, the others find it. */
function enterAsNewUser(
  parts: AuthParts,
  collection: Collection,
  { identity, record }: Entrant,
  origin: Origin,
): Promise<SignedIn> {
  const { provider, providerUserId } = identity;
  const id = newId();
  return makeUser(parts, collection, {
    user: {
      id,
      fields: record,
      given: { email: syntheticAddress(provider, id), verified: false },
      passwordHash: null,
      link: { provider, providerUserId, nowSec: parts.nowSec() },
    },
    context: origin.context,
    findOther: (query, collection) => findLinkedUser(query, collection, identity),
    finish: (query, user, collection) => completeSignIn(query, parts, { collection, user, origin }),
  });
}
