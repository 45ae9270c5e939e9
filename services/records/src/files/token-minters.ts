import type { Query } from '@recordbus/database';
import { unauthenticated } from '@recordbus/errors';
import type { Principal } from '@recordbus/request/context';
import { rightsOf } from '@recordbus/request/key-rights';
import { type Collection, tableOf } from '@recordbus/schema';
import { findKeyPrincipal } from '@recordbus/sessions';
import type { FileTokenMinter } from '@recordbus/tokens';

/** The principals that can request a file token. */
export type TokenHolder = Exclude<Principal, { type: 'guest' }>;

/** The current account of a file token's minter. */
interface MinterAccount {
  readonly tokenVersion: number;
  /** Whether the session exists; true without a session to check. */
  readonly isSessionAlive: boolean;
  readonly email: string;
  /** False for an admin. */
  readonly isAnonymous: boolean;
  /** Whether the user's address is proved; false for an admin. */
  readonly isVerified: boolean;
}

/** The minter to look up; with `sessionId`, also whether that session exists. */
type MinterQuery = Omit<FileTokenMinter, 'tokenVersion'> & { readonly collection?: string };

/** Finds a minter's account; undefined when it, or its collection, is gone. */
async function findMinterAccount(
  query: Query,
  minter: MinterQuery,
  findCollection: (name: string) => Collection | undefined,
): Promise<MinterAccount | undefined> {
  const collection = minter.collection === undefined ? undefined : findCollection(minter.collection);
  if (minter.type === 'user' && collection?.type !== 'auth') return undefined;
  const ofUser = collection
    ? 'coalesce(a.is_anonymous, false) as "isAnonymous", coalesce(a.verified, false) as "isVerified"'
    : 'false as "isAnonymous", false as "isVerified"';
  const [account] = await query<MinterAccount>({
    text: `select a.token_version as "tokenVersion", a.email,
  $2::text is null or exists (
    select from system.sessions s
    where s.id = $2 and s.account_id = a.id and s.expires_at > extract(epoch from now())
  ) as "isSessionAlive", ${ofUser}
from ${collection ? tableOf(collection) : 'system.admins'} a where a.id = $1`,
    values: [minter.id, minter.sessionId ?? null],
  });
  return account;
}

/** Returns the principal for a download's rules; undefined when the account or the session has ended. */
export async function principalOfMinter(
  query: Query,
  minter: FileTokenMinter,
  findCollection: (name: string) => Collection | undefined,
): Promise<TokenHolder | undefined> {
  if (minter.type === 'service') {
    const key = await findKeyPrincipal(query, minter.id);
    return key && rightsOf(key.scopes).has('files') ? key : undefined;
  }
  const account = await findMinterAccount(query, minter, findCollection);
  if (account?.tokenVersion !== minter.tokenVersion || !account.isSessionAlive) return undefined;
  const { email, isAnonymous: anonymous, isVerified: verified } = account;
  if (minter.type === 'admin') return { type: 'admin', id: minter.id, email };
  if (minter.type !== 'user') return undefined;
  const { id, collection, impersonatedBy } = minter;
  return { type: 'user', id, email, collection, anonymous, verified, impersonatedBy };
}

/**
 * Returns the minter for a token that a caller asks for. With `endsWithSession` the token ends with the caller's
 * session. Throws 401 when the account or the session has ended.
 */
export async function getMinter(
  query: Query,
  principal: TokenHolder,
  endsWithSession: boolean,
  findCollection: (name: string) => Collection | undefined,
): Promise<FileTokenMinter> {
  const { id } = principal;
  // The key was looked up for this request.
  if (principal.type === 'service') return { type: principal.type, id, tokenVersion: 0 };
  const ofSession = endsWithSession && { sessionId: principal.sessionId };
  const minter =
    principal.type === 'admin'
      ? { type: principal.type, id, ...ofSession }
      : {
          type: principal.type,
          id,
          collection: principal.collection,
          impersonatedBy: principal.impersonatedBy,
          ...ofSession,
        };
  const account = await findMinterAccount(query, minter, findCollection);
  if (!account?.isSessionAlive) throw unauthenticated();
  return { ...minter, tokenVersion: account.tokenVersion };
}
