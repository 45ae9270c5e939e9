import { findUserById, finishOneTimeToken, type Link, linkOf, type User } from '@recordbus/accounts';
import type { Query } from '@recordbus/database';
import { forbidden } from '@recordbus/errors';
import type { Collection } from '@recordbus/schema';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { readLink } from '../identity/make-link.ts';
import { proveCaller } from '../identity/proof-of-caller.ts';
import { type Profile, readPendingProfile } from '../identity/provider-profile.ts';
import type { LoginAttempt } from '../lockout/lockout.ts';
import {
  findOneTimeToken,
  guessOneTimeToken,
  hashOneTimeToken,
  issueOneTimeToken,
} from '../one-time/one-time-tokens.ts';
import { checkPassword } from '../passwords/check-password.ts';
import { completeSignIn, type SignedIn } from '../sign-in/complete-sign-in.ts';
import { invalidCredentials } from '../sign-in/log-in.ts';
import { invalidToken } from '../verification/verification.ts';

/** An exchange's answer when a user must confirm a merge (oauth §5.1). */
export interface MergeRequired {
  readonly merge_required: true;
  readonly merge_token: string;
  readonly email: string;
  readonly provider: string;
}

/** oauth §5.1 */
const lifetimeSec = 15 * 60;

/** Issues the token with which a user confirms a merge. */
export async function requireMerge(
  query: Query,
  { nowSec }: Pick<AuthParts, 'nowSec'>,
  collection: Collection,
  { id, email }: User,
  identity: Link & { readonly profile: Profile },
): Promise<MergeRequired> {
  const token = await issueOneTimeToken(query, {
    purpose: 'merge',
    collectionId: collection.id,
    accountId: id,
    data: { link: linkOf(identity), profile: identity.profile, email },
    nowSec: nowSec(),
    lifetimeSec,
    // Merges that begin in two tabs both work (oauth §5.1).
    replaces: false,
  });
  return { merge_required: true, merge_token: token, email, provider: identity.provider };
}

export interface MergeConfirmation {
  readonly mergeToken: string;
  /** The proof that the caller holds the account: its password, or the session's user. */
  readonly proof: { readonly password: string } | { readonly userId: string };
}

/**
 * Links a user to an exchange's identity after the proof by password or session, and signs the user in (oauth §5.2). If a
 * second factor is required, the link is made after it.
 * Throws 401 for a wrong password and for a token that is wrong, used, expired or had five wrong passwords; 403 for
 * another user's session and for one older than ten minutes; 409 when the identity now belongs to another user; 429
 * when the address is locked out.
 */
export async function confirmMerge(
  parts: AuthParts,
  collection: Collection,
  { mergeToken, proof }: MergeConfirmation,
  origin: Origin,
): Promise<SignedIn> {
  const { database, nowSec } = parts;
  const presented = { purpose: 'merge', collectionId: collection.id, token: mergeToken, nowSec: nowSec() } as const;
  const found = await findOneTimeToken(database.query, presented);
  const owner = found && (await findUserById(database.query, collection, found.accountId));
  if (!found || !owner) throw invalidToken();
  if ('userId' in proof) {
    if (proof.userId !== owner.id) throw forbidden('the token belongs to another user');
    await proveCaller(parts, collection, 'fresh', { ...proof, oldPassword: undefined, context: origin.context });
  }
  const attempt =
    'password' in proof
      ? await checkMergePassword(parts, collection, owner, { ...proof, presented, origin })
      : undefined;
  return database.transaction(async (query) => {
    if (!(await finishOneTimeToken(query, hashOneTimeToken(mergeToken)))) throw invalidToken();
    const user = await findUserById(query, collection, owner.id);
    if (!user || user.tokenVersion !== owner.tokenVersion || user.email !== found.data.email) throw invalidToken();
    const data = { link: readLink(found.data), ...readPendingProfile(found.data) };
    const factor = 'password' in proof ? 'password' : 'oauth2';
    return completeSignIn(query, parts, { collection, user, origin, factor, attempt, data });
  });
}

interface PasswordProof {
  readonly presented: Parameters<typeof guessOneTimeToken>[1];
  readonly password: string;
  readonly origin: Origin;
}

/** Counts the guess, then checks the password. Throws 401 for a wrong one, 429 when the address is locked out. */
async function checkMergePassword(
  { database, lockout }: AuthParts,
  collection: Collection,
  owner: User,
  { presented, password, origin }: PasswordProof,
): Promise<LoginAttempt> {
  const { clientAddress } = origin.context;
  const attempt = await lockout.reserve({ realm: collection.id, email: owner.email, clientAddress });
  if (!(await guessOneTimeToken(database.query, presented))) throw invalidToken();
  if (!(await checkPassword(database.query, collection, owner, password))) throw invalidCredentials();
  return attempt;
}
