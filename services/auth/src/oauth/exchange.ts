import {
  findLinkedUser,
  findUserByEmail,
  linkOf,
  type NewUser,
  readSignUpRequest,
  type User,
  verifiedIsForAdmins,
} from '@recordbus/accounts';
import { newId, type Query } from '@recordbus/database';
import { validationFailed } from '@recordbus/errors';
import type { Principal } from '@recordbus/request/context';
import { type Collection, syntheticAddress } from '@recordbus/schema';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { completeSignIn, type SignedIn } from '../sign-in/complete-sign-in.ts';
import { requireOpenSignUp } from '../sign-up/require-open.ts';
import { writeNewUser } from '../users/write-user.ts';
import { canReceiveMail } from '../verification/verification.ts';
import type { Identity } from './identity.ts';
import { type MergeRequired, requireMerge } from './merge.ts';
import type { OauthParts } from './oauth-parts.ts';
import { chooseVerifier } from './pkce.ts';
import { profileFields } from './profile-fields.ts';
import { withPicture } from './provider-picture.ts';

export interface ExchangeRequest {
  readonly provider: string;
  readonly code: string;
  readonly redirectUri: string;
  readonly state: string | undefined;
  readonly codeVerifier: string | undefined;
}

/** Exchanges a provider's code for an identity; uses up the code and the verifier. Throws 422 for a provider that is
 * not enabled or refuses, 401 for a used state, 502 when the provider fails.
 */
export async function identify(
  { database, oauth, nowSec }: Pick<OauthParts, 'database' | 'oauth' | 'nowSec'>,
  { id: collectionId }: Collection,
  { provider: name, code, redirectUri, state, codeVerifier: theirs }: ExchangeRequest,
): Promise<Identity> {
  const provider = await oauth.get(name);
  const where = { collectionId, provider, redirectUri, nowSec: nowSec() };
  const codeVerifier = await chooseVerifier(database.query, where, { state, codeVerifier: theirs });
  return provider.identify({ code, redirectUri, codeVerifier });
}

/**
 * Refuses members in `record` that a new account gets from the provider only (oauth §4.1). Call it before the code is
 * used up. Throws 403 for `verified: true`, as a registration does, and 422 for an address or another value.
 */
export function refuseProvidedFields({ email, verified }: ProviderSignIn['record'], { type }: Principal): void {
  if (verified === true && type !== 'admin') throw verifiedIsForAdmins();
  const given = Object.entries({ email, verified }).filter(([, value]) => value !== undefined && value !== false);
  if (given.length > 0)
    throw validationFailed(Object.fromEntries(given.map(([name]) => [name, "is set from the provider's profile"])));
}

interface ProviderSignIn {
  readonly identity: Identity;
  /** The account's fields if it is new. */
  readonly record: Readonly<Record<string, unknown>>;
}

/**
 * Signs an identity's owner in (oauth §3.2): the linked user, or a new one. When the provider vouches for another
 * user's address, the link must be confirmed first. The step that completes the sign-in answers the profile (oauth
 * §3.6). Throws 422 naming a new user's wrong or missing field.
 */
export async function signInWithIdentity(
  parts: AuthParts,
  collection: Collection,
  { identity, record }: ProviderSignIn,
  origin: Origin,
): Promise<SignedIn | MergeRequired> {
  const data = { profile: identity.profile };
  const known = await parts.database.transaction(async (query) => {
    const linked = await findLinkedUser(query, collection, identity);
    if (linked) return completeSignIn(query, parts, { collection, user: linked, origin, factor: 'oauth2', data });
    const match = await findMatch(query, collection, identity);
    return match && requireMerge(query, parts, collection, match, identity);
  });
  return known ?? signUpWithIdentity(parts, collection, { identity, record }, origin);
}

/** Finds the user whose address the provider vouches for. A made-up address matches no user. */
async function findMatch(query: Query, collection: Collection, identity: Identity): Promise<User | undefined> {
  const { verifiedEmail } = identity;
  const user = verifiedEmail === undefined ? undefined : await findUserByEmail(query, collection, verifiedEmail);
  return user && canReceiveMail(user) ? user : undefined;
}

/**
 * Creates a user whose only way to sign in is a link. Parallel calls for one identity find the first call's user (oauth
 * §3.5).
 */
async function signUpWithIdentity(
  parts: AuthParts,
  collection: Collection,
  { identity, record }: ProviderSignIn,
  origin: Origin,
): Promise<SignedIn> {
  requireOpenSignUp(parts, collection, origin.context.principal);
  const data = { profile: identity.profile };
  const id = newId();
  const session = await writeNewUser(parts, collection, {
    user: {
      id,
      ...(await newAccountOf(parts, collection, { identity, record }, id)),
      passwordHash: null,
      asked: readSignUpRequest(collection, record, origin),
      signsIn: true,
      link: { ...linkOf(identity), nowSec: parts.nowSec() },
    },
    context: origin.context,
    findOther: (query, collection) => findLinkedUser(query, collection, identity),
    finish: ({ query }, user, collection) =>
      completeSignIn(query, parts, { collection, user, origin, factor: 'oauth2', data }),
  });
  return withPicture(parts, collection, { id, profile: identity.profile, record }, session, origin.context);
}

/** Returns a new account's fields. Fields in `record` win over the profile's (oauth §4.2). */
async function newAccountOf(
  { settings }: Pick<AuthParts, 'settings'>,
  collection: Collection,
  { identity, record }: ProviderSignIn,
  id: string,
): Promise<Pick<NewUser, 'fields' | 'given'>> {
  const { verifiedEmail, profile, provider } = identity;
  const map = settings.getNamed('oauth2.profile.<collection>', collection.name);
  const taken = await profileFields(collection, map, profile);
  const fields = { ...taken, ...record };
  if (verifiedEmail !== undefined && settings.getNamed('oauth2.verified_email.<collection>', collection.name))
    return { fields: { ...fields, email: verifiedEmail }, given: { verified: true } };
  return { fields, given: { email: syntheticAddress(provider, id), verified: false } };
}
