import { newId, type Query } from '@recordbus/database';

/** Whose passkeys: a collection's id or the admins' realm, and the account. */
export interface PasskeyOwner {
  readonly realm: string;
  readonly accountId: string;
}

/** A key as an authenticator made it (WebAuthn 3 §4, credential record). */
export interface PasskeyCredential {
  readonly credentialId: Buffer;
  /** In COSE. */
  readonly publicKey: Buffer;
  readonly signCount: number;
  /** Whether a provider may copy it to other devices. */
  readonly isCopyable: boolean;
  /** Whether a provider has a copy. */
  readonly isCopied: boolean;
  readonly transports: readonly string[];
}

/** A stored passkey. */
export interface Passkey extends PasskeyCredential {
  readonly id: string;
  readonly accountId: string;
  readonly userHandle: Buffer;
  readonly name: string;
  readonly createdAtSec: number;
  readonly lastUsedAtSec: number | null;
}

const columns = `id, account_id as "accountId", credential_id as "credentialId", public_key as "publicKey",
  user_handle as "userHandle", sign_count as "signCount", is_copyable as "isCopyable", is_copied as "isCopied", transports,
  name, created_at as "createdAtSec", last_used_at as "lastUsedAtSec"`;

/** Lists an account's passkeys, oldest first. */
export const listPasskeys = (query: Query, { realm, accountId }: PasskeyOwner): Promise<Passkey[]> =>
  query<Passkey>({
    text: `select ${columns} from system.passkeys where collection_id = $1 and account_id = $2 order by created_at, id`,
    values: [realm, accountId],
  });

/** Finds a passkey by the key's id at the authenticator. */
export async function findPasskey(query: Query, realm: string, credentialId: Buffer): Promise<Passkey | undefined> {
  const [found] = await query<Passkey>({
    text: `select ${columns} from system.passkeys where collection_id = $1 and credential_id = $2`,
    values: [realm, credentialId],
  });
  return found;
}

/** What a new passkey's row needs besides its credential. */
interface NewPasskey {
  readonly credential: PasskeyCredential;
  readonly userHandle: Buffer;
  readonly name: string;
  readonly nowSec: number;
}

/** Adds a passkey; undefined when the key is already an account's. */
export async function insertPasskey(
  query: Query,
  { realm, accountId }: PasskeyOwner,
  { credential, userHandle, name, nowSec }: NewPasskey,
): Promise<Passkey | undefined> {
  const { credentialId, publicKey, signCount, isCopyable, isCopied, transports } = credential;
  const key = [credentialId, publicKey, userHandle, signCount, isCopyable, isCopied, transports];
  const [added] = await query<Passkey>({
    text: `insert into system.passkeys (id, collection_id, account_id, credential_id, public_key, user_handle, sign_count,
        is_copyable, is_copied, transports, name, created_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
      on conflict (credential_id) do nothing returning ${columns}`,
    values: [newId(), realm, accountId, ...key, name, nowSec],
  });
  return added;
}

/** What an assertion tells about a passkey. */
export type PasskeyUse = Pick<Passkey, 'id' | 'signCount' | 'isCopied'>;

/**
 * Notes that a passkey signed; false when it is gone, or when it has signed with this count already. A key that always
 * counts zero may sign any number of times.
 */
export async function usePasskey(
  query: Query,
  { id, signCount, isCopied }: PasskeyUse,
  nowSec: number,
): Promise<boolean> {
  const rows = await query({
    text: `update system.passkeys set sign_count = $2, is_copied = $3, last_used_at = $4
      where id = $1 and ($2::bigint > sign_count or ($2 = 0 and sign_count = 0)) returning 1`,
    values: [id, signCount, isCopied, nowSec],
  });
  return rows.length > 0;
}

/** Renames a passkey; undefined when the account has no such passkey. */
export async function renamePasskey(
  query: Query,
  { realm, accountId }: PasskeyOwner,
  id: string,
  name: string,
): Promise<Passkey | undefined> {
  const [renamed] = await query<Passkey>({
    text: `update system.passkeys set name = $4 where collection_id = $1 and account_id = $2 and id = $3
      returning ${columns}`,
    values: [realm, accountId, id, name],
  });
  return renamed;
}

/** Removes a passkey; false when the account has no such passkey. */
export async function deletePasskey(query: Query, { realm, accountId }: PasskeyOwner, id: string): Promise<boolean> {
  const rows = await query({
    text: 'delete from system.passkeys where collection_id = $1 and account_id = $2 and id = $3 returning 1',
    values: [realm, accountId, id],
  });
  return rows.length > 0;
}

/** Counts the ways into an account that its collection takes: its password, each provider, each passkey. */
export async function countWaysIn(
  query: Query,
  { id, passwordHash }: { readonly id: string; readonly passwordHash: string | null },
  takes: (way: 'password' | 'oauth2' | 'passkey') => boolean,
): Promise<number> {
  const [row] = await query<{ links: number; passkeys: number }>({
    text: `select (select count(distinct provider)::int from system.oauth_links where account_id = $1) as links,
      (select count(*)::int from system.passkeys where account_id = $1) as passkeys`,
    values: [id],
  });
  const { links = 0, passkeys = 0 } = row ?? {};
  return [
    takes('oauth2') ? links : 0,
    takes('passkey') ? passkeys : 0,
    takes('password') && passwordHash !== null ? 1 : 0,
  ].reduce((sum, ways) => sum + ways);
}
