import type { Query } from '@recordbus/database';
import { containsAddress, parseCidrList } from '@recordbus/egress/cidr';
import type { Principal } from '@recordbus/request/context';
import { readScope, writeScope } from '@recordbus/request/key-rights';

export type ServicePrincipal = Extract<Principal, { type: 'service' }>;

/** A stored key, for request checks. */
export interface StoredKey {
  readonly hash: Buffer;
  readonly principal: ServicePrincipal;
  /** Whether the key may be used from an address. */
  admits(address: string): boolean;
}

interface KeyRow {
  readonly id: string;
  readonly hash: string;
  readonly scopes: readonly string[];
  readonly expiresAtSec: number | null;
  readonly networks: readonly string[];
  readonly rateLabel: string | null;
  readonly isRateLimited: boolean;
  /** The names of the scopes' collections, by id. */
  readonly collections: Readonly<Record<string, string>>;
}

/** The names of the collections in key `k`'s scopes, by id: scopes are stored with ids and follow renames. */
export const collectionNames = `(select coalesce(jsonb_object_agg(c.id, c.name), '{}') from system.collections c
  where c.id in (select split_part(scope, ':', 2) from unnest(k.scopes) scope))`;

const select = `select k.id, encode(k.hash, 'hex') as hash, k.scopes, k.expires_at as "expiresAtSec",
  k.allowed_cidrs as networks, k.rate_label as "rateLabel",
  k.rate_limited as "isRateLimited", ${collectionNames} as collections
from system.service_keys k`;

/** Reads all keys; there are at most `maxKeys`. */
export async function readKeys(query: Query): Promise<ReadonlyMap<string, StoredKey>> {
  const rows = await query<KeyRow>({ name: 'service-keys', text: select, values: [] });
  return new Map(rows.map((row) => [row.id, storedKey(row)]));
}

/** Finds a key's principal; undefined if the key does not exist or has expired. */
export async function findKeyPrincipal(query: Query, id: string): Promise<ServicePrincipal | undefined> {
  const [row] = await query<KeyRow>({
    name: 'service-key',
    text: `${select} where k.id = $1 and coalesce(k.expires_at > extract(epoch from now()), true)`,
    values: [id],
  });
  return row && storedKey(row).principal;
}

function storedKey({
  id,
  hash,
  scopes,
  collections,
  expiresAtSec,
  networks,
  rateLabel,
  isRateLimited,
}: KeyRow): StoredKey {
  const allowed = parseCidrList(networks.join(','));
  return {
    hash: Buffer.from(hash, 'hex'),
    principal: {
      type: 'service',
      id,
      scopes: namedScopes(scopes, collections),
      ...(rateLabel !== null && { rateLabel }),
      ...(!isRateLimited && { isUncounted: true }),
      ...(expiresAtSec !== null && { expiresAtSec }),
    },
    admits: (address) => allowed.length === 0 || containsAddress(allowed, address),
  };
}

/** Returns scopes with their collections' names; those for a collection that is gone are left out. */
export function namedScopes(scopes: readonly string[], names: Readonly<Record<string, string>>): string[] {
  return scopes.flatMap((text) => {
    const scope = readScope(text);
    if (!scope) return [];
    if (scope.kind === 'fixed' || scope.collection === '*') return [text];
    const collection = names[scope.collection];
    return collection === undefined ? [] : [writeScope({ ...scope, collection })];
  });
}
