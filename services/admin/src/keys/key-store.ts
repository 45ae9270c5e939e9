import type { Query } from '@recordbus/database';
import { notFound, validationFailed } from '@recordbus/errors';
import { everyCollection, readScope, writeScope } from '@recordbus/request/key-rights';
import { collectionNames, isKeyId, namedScopes, shownKey } from '@recordbus/sessions';
import type { KeyJson, NewKey } from './key-schema.ts';

/** A row, with the collection names in its scopes. */
interface KeyRow extends Omit<KeyJson, 'prefix' | 'created_by'> {
  readonly collections: Readonly<Record<string, string>>;
  readonly created_by_type: string;
  readonly created_by_id: string | null;
}

const columns = `k.id, k.name, k.scopes, k.expires_at, k.allowed_cidrs, k.rate_label, k.rate_limited, k.created_by_type, k.created_by_id,
  k.created_at, k.updated_at, k.last_used_at, k.last_used_ip, ${collectionNames} as collections`;

const present = ({ collections, created_by_type, created_by_id, scopes, ...row }: KeyRow): KeyJson => ({
  ...row,
  prefix: shownKey(row.id),
  scopes: namedScopes(scopes, collections),
  created_by: { type: created_by_type, id: created_by_id },
});

/** Returns a page of keys, newest first, and how many keys there are. */
export async function listKeys(
  query: Query,
  { page, perPage }: { readonly page: number; readonly perPage: number },
): Promise<{ rows: KeyJson[]; totalItems: number }> {
  const rows = await query<KeyRow>({
    text: `select ${columns} from system.service_keys k order by k.created_at desc, k.id limit $1 offset $2`,
    values: [perPage, (page - 1) * perPage],
  });
  return { rows: rows.map(present), totalItems: await countKeys(query) };
}

/** Returns how many keys there are. */
export async function countKeys(query: Query): Promise<number> {
  const [row] = await query<{ count: number }>({ text: 'select count(*) from system.service_keys', values: [] });
  return row?.count ?? 0;
}

/** Returns a key. Throws 404. With `lock` no other transaction changes it before this one ends. */
export async function getKey(query: Query, id: string, lock: '' | 'for update' | 'for share' = ''): Promise<KeyJson> {
  if (!isKeyId(id)) throw notFound('service key');
  const [row] = await query<KeyRow>({
    text: `select ${columns} from system.service_keys k where k.id = $1 ${lock}`,
    values: [id],
  });
  if (!row) throw notFound('service key');
  return present(row);
}

/** A new row. */
export interface NewKeyRow extends NewKey {
  readonly id: string;
  readonly hash: Buffer;
  readonly createdBy: { readonly type: string; readonly id: string | null };
}

/** A key's other problems, by member. */
type Problems = Readonly<Record<string, string>>;

/** Inserts a key. Throws 422 naming its other problems, and collections that do not exist. */
export async function insertKey(query: Query, key: NewKeyRow, problems: Problems): Promise<void> {
  await query({
    text: `insert into system.service_keys
        (id, name, hash, scopes, expires_at, allowed_cidrs, rate_label, rate_limited, created_by_type, created_by_id)
      values ($1, $2, decode($3, 'hex'), $4, $5, $6, $7, $8, $9, $10)`,
    values: [
      key.id,
      key.name,
      key.hash.toString('hex'),
      await scopesWithIds(query, key.scopes, problems),
      key.expires_at,
      key.allowed_cidrs,
      key.rate_label,
      key.rate_limited,
      key.createdBy.type,
      key.createdBy.id,
    ],
  });
}

/** Writes a key's members that can change. Throws 422 like `insertKey`. */
export async function updateKey(query: Query, id: string, key: NewKey, problems: Problems): Promise<void> {
  await query({
    text: `update system.service_keys set name = $2, scopes = $3, expires_at = $4, allowed_cidrs = $5, rate_label = $6,
        rate_limited = $7, updated_at = extract(epoch from clock_timestamp())::bigint where id = $1`,
    values: [
      id,
      key.name,
      await scopesWithIds(query, key.scopes, problems),
      key.expires_at,
      key.allowed_cidrs,
      key.rate_label,
      key.rate_limited,
    ],
  });
}

/** Deletes a key. Throws 404. */
export async function deleteKeyRow(query: Query, id: string): Promise<void> {
  if (!isKeyId(id)) throw notFound('service key');
  const rows = await query({ text: 'delete from system.service_keys where id = $1 returning 1', values: [id] });
  if (rows.length === 0) throw notFound('service key');
}

/** Returns the scopes with their collections' ids, which follow renames. */
async function scopesWithIds(query: Query, texts: readonly string[], problems: Problems): Promise<string[]> {
  const scopes = texts.map(readScope).filter((scope) => scope !== undefined);
  const names = scopes.flatMap((scope) => (scope.kind === 'fixed' ? [] : [scope.collection]));
  const found = await query<{ id: string; name: string }>({
    // Locks the collections, so that a concurrent drop also removes the new scopes.
    text: 'select id, name from system.collections where name = any($1::text[]) for share',
    values: [names],
  });
  const ids = new Map(found.map(({ id, name }) => [name, id]));
  const unknown = names.find((name) => name !== everyCollection && !ids.has(name));
  const all = { ...problems, ...(unknown !== undefined && { scopes: `there is no collection ${unknown}` }) };
  if (Object.keys(all).length > 0) throw validationFailed(all);
  return scopes.map((scope) =>
    scope.kind === 'fixed' || scope.collection === everyCollection
      ? writeScope(scope)
      : writeScope({ ...scope, collection: ids.get(scope.collection) ?? '' }),
  );
}
