import { findUserById, finishOneTimeToken, type User } from '@recordbus/accounts';
import type { Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import type { OauthProviderName } from '@recordbus/settings';
import { forbidden } from '@recordbus/shared/errors';
import type { AuthParts, Origin } from '../auth-parts.ts';
import type { LoginAttempt } from '../lockout/lockout.ts';
import {
  findOneTimeToken,
  guessOneTimeToken,
  hashOneTimeToken,
  issueOneTimeToken,
} from '../one-time/one-time-tokens.ts';
import { checkPassword } from '../passwords/check-password.ts';
import { invalidCredentials } from '../passwords/log-in.ts';
import { completeSignIn, type SignedIn } from '../sign-in/complete-sign-in.ts';
import { invalidToken } from '../verification/verification.ts';
import type { Identity } from './identity.ts';
import { makeLink, readLink } from './make-link.ts';

/** What an exchange answers where a user has to confirm that they are the provider's user too. */
export interface MergeRequired {
  readonly merge_required: true;
  readonly merge_token: string;
  readonly email: string;
  readonly provider: OauthProviderName;
}

/** Interface §3.4. */
const lifetimeSec = 15 * 60;

/** Issues the token with which a user confirms that the identity is theirs. */
export async function requireMerge(
  query: Query,
  { nowSec }: Pick<AuthParts, 'nowSec'>,
  collection: Collection,
  { id, email }: User,
  { provider, providerUserId }: Identity,
): Promise<MergeRequired> {
  const token = await issueOneTimeToken(query, {
    purpose: 'merge',
    collectionId: collection.id,
    accountId: id,
    data: { link: { provider, providerUserId }, email },
    nowSec: nowSec(),
    lifetimeSec,
  });
  return { merge_required: true, merge_token: token, email, provider };
}

export interface MergeConfirmation {
  readonly mergeToken: string;
  /** That the account is theirs too: its password, or whose session it is. */
  readonly proof: { readonly password: string } | { readonly userId: string };
}

/** A sign-in after which the link is there; where a second factor is wanted, the link waits for it. */
export type Merged = SignedIn & { readonly linked_provider?: OauthProviderName };

/**
 * Links a user with the identity of an exchange, once they have proved by their password or by their session that the
 * account is theirs too, and signs them in. Throws 401 for a token that is wrong, used, expired or had five wrong
 * passwords, and for a wrong password; 403 for somebody else's session; 409 when the identity is somebody else's by now;
 * 429 when the address is locked out.
 */
export async function confirmMerge(
  parts: AuthParts,
  collection: Collection,
  { mergeToken, proof }: MergeConfirmation,
  origin: Origin,
): Promise<Merged> {
  const { database, nowSec } = parts;
  const presented = { purpose: 'merge', collectionId: collection.id, token: mergeToken, nowSec: nowSec() } as const;
  const found = await findOneTimeToken(database.query, presented);
  const owner = found && (await findUserById(database.query, collection, found.accountId));
  if (!found || !owner) throw invalidToken();
  if ('userId' in proof && proof.userId !== owner.id) throw forbidden('the token is of another user');
  const attempt =
    'password' in proof ? await provePassword(parts, collection, owner, { ...proof, presented, origin }) : undefined;
  return database.transaction(async (query) => {
    if (!(await finishOneTimeToken(query, hashOneTimeToken(mergeToken)))) throw invalidToken();
    const user = await findUserById(query, collection, owner.id);
    if (!user || user.tokenVersion !== owner.tokenVersion || user.email !== found.data.email) throw invalidToken();
    const link = readLink(found.data);
    if (user.totpEnabled) return completeSignIn(query, parts, { collection, user, origin, attempt, mfaData: { link } });
    const linked_provider = await makeLink(query, parts, collection, user, link, origin);
    return { ...(await completeSignIn(query, parts, { collection, user, origin, attempt })), linked_provider };
  });
}

interface PasswordProof {
  readonly presented: Parameters<typeof guessOneTimeToken>[1];
  readonly password: string;
  readonly origin: Origin;
}

/** Counts the guess, then looks at it. Throws 401 for a wrong one, 429 when the address is locked out. */
async function provePassword(
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
