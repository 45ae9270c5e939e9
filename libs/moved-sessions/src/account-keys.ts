import type { ValueCipher } from '@recordbus/crypto';
import type { Query } from '@recordbus/database';
import { type Collection, tableOf } from '@recordbus/schema';

/** The key for an account's tokens, as stored. */
export interface AccountKey {
  readonly accountId: string;
  readonly collectionId: string;
  readonly collection: string;
  /** The collection's id in PocketBase. */
  readonly alias: string | null;
  /** Encrypted if there is a key. */
  readonly tokenKey: string;
  /** The token version that the account had when it moved in. */
  readonly tokenVersion: number;
}

/** How many keys one statement reads. */
const together = 500;

/** Finds an account's key by its id. */
export type FindKey = (accountId: string) => Promise<AccountKey | undefined>;

/**
 * Creates the function that finds keys. One statement runs at a time, for all that wait: however many forged tokens
 * arrive, they take one connection.
 */
export function createFindKey(query: Query): FindKey {
  const waiting = new Map<string, PromiseWithResolvers<AccountKey | undefined>>();
  let isReading = false;

  async function readAll(): Promise<void> {
    isReading = true;
    while (waiting.size > 0) {
      const some = [...waiting].slice(0, together);
      for (const [id] of some) waiting.delete(id);
      try {
        const found = new Map(
          (
            await readKeys(
              query,
              some.map(([id]) => id),
            )
          ).map((key) => [key.accountId, key]),
        );
        for (const [id, { resolve }] of some) resolve(found.get(id));
      } catch (error) {
        for (const [, { reject }] of some) reject(error);
      }
    }
    isReading = false;
  }

  return (accountId) => {
    const asked = waiting.get(accountId) ?? Promise.withResolvers();
    waiting.set(accountId, asked);
    if (!isReading) void readAll();
    return asked.promise;
  };
}

const readKeys = (query: Query, ids: readonly string[]): Promise<AccountKey[]> =>
  query<AccountKey>({
    name: 'find pocketbase keys',
    text: `select k.account_id as "accountId", c.id as "collectionId", c.name as collection, c.alias, k.token_key as "tokenKey",
        k.token_version as "tokenVersion"
      from system.pocketbase_keys k join system.collections c on c.id = k.collection_id where k.account_id = any($1::text[])`,
    values: [ids],
  });

/** An account's key in PocketBase: its record's `tokenKey` with the collection's secret. */
export interface GivenKey {
  readonly id: string;
  /** Null takes the account's key away. */
  readonly key: string | null;
  /** The account's `updated_at` when it moved in. An account that was changed since gets no key. */
  readonly updated: number;
}

/**
 * Stores accounts' keys, and returns the accounts that got one. An account that is missing or was changed since is left
 * out. A key that replaces another one, or takes it away, ends the sessions that its tokens opened.
 */
export async function storeKeys(
  query: Query,
  collection: Collection,
  keys: readonly GivenKey[],
  { encrypt, decrypt }: Pick<ValueCipher, 'encrypt' | 'decrypt'>,
): Promise<string[]> {
  const wanted = keys.flatMap(({ id, key, updated }) => (key === null ? [] : [{ id, key, updated }]));
  const given = new Map(wanted.map(({ id, key }) => [id, key]));
  const before = await query<{ id: string; tokenKey: string }>({
    text: `select account_id as id, token_key as "tokenKey" from system.pocketbase_keys
      where account_id = any($1::text[]) order by account_id for update`,
    values: [[...given.keys()]],
  });
  const replaced = before.filter(({ id, tokenKey }) => decrypt(tokenKey) !== given.get(id)).map(({ id }) => id);
  const rows = await query<{ id: string }>({
    text: `insert into system.pocketbase_keys (account_id, collection_id, token_key, token_version)
      select a.id, $4, g.key, a.token_version
      from unnest($1::text[], $2::text[], $3::bigint[]) as g(id, key, updated)
      join ${tableOf(collection)} a on a.id = g.id and a.updated_at = g.updated
      order by a.id
      on conflict (account_id) do update set collection_id = excluded.collection_id, token_key = excluded.token_key,
        token_version = excluded.token_version, opens_sessions = true
      returning account_id as id`,
    values: [
      wanted.map(({ id }) => id),
      wanted.map(({ key }) => encrypt(key)),
      wanted.map(({ updated }) => updated),
      collection.id,
    ],
  });
  const kept = new Set(rows.map(({ id }) => id));
  const taken = await query<{ id: string }>({
    text: `delete from system.pocketbase_keys where account_id = any($1::text[]) and collection_id = $2
      returning account_id as id`,
    values: [keys.filter(({ key }) => key === null).map(({ id }) => id), collection.id],
  });
  await endSessions(query, [...replaced.filter((id) => kept.has(id)), ...taken.map(({ id }) => id)]);
  return [...kept];
}

/** Ends the sessions that accounts' tokens opened. */
async function endSessions(query: Query, accountIds: readonly string[]): Promise<void> {
  if (accountIds.length === 0) return;
  await query({
    text: `with ended as (
        delete from system.sessions where id in (
          select session_id from system.pocketbase_tokens where account_id = any($1::text[])) returning id
      ) insert into system.revocations (subject) select id from ended`,
    values: [accountIds],
  });
}
