import type { Query } from '@recordbus/database';

/** A stream of a PocketBase client, as other gateways know it. Texts are hashes, except the gateway's name. */
export interface StreamRow {
  readonly id: string;
  readonly gateway: string;
  readonly caller: string;
  readonly address: string;
  /** Cursors by topic. */
  readonly cursors: Readonly<Record<string, string>>;
  readonly schema_version: number;
  readonly is_open: boolean;
}

/** A stream that the client of another one may have had before. */
export type EarlierStream = Pick<StreamRow, 'id' | 'gateway' | 'address' | 'cursors' | 'is_open'>;

/** Stores streams: adds them, or replaces what is stored. */
export async function storeStreams(query: Query, rows: readonly StreamRow[]): Promise<void> {
  await query({
    name: 'pocketbase.store-streams',
    text: `insert into system.pocketbase_streams
  select r.*, now() from jsonb_to_recordset($1::jsonb) as r(
    id text, gateway text, caller text, address text, cursors jsonb, schema_version bigint, is_open boolean)
on conflict (id) do update set (caller, address, cursors, schema_version, is_open, seen_at) =
  (excluded.caller, excluded.address, excluded.cursors, excluded.schema_version, excluded.is_open, excluded.seen_at)`,
    values: [JSON.stringify(rows)],
  });
}

/**
 * Finds a caller's streams with one of these topics, under the schema's current version: those that ended in the last
 * `keptSec`, and those whose gateway said in the last `keptSec + beatSec` that they are open.
 */
export const findEarlierStreams = (
  query: Query,
  { caller, topics, keptSec, beatSec }: FindOptions,
): Promise<EarlierStream[]> =>
  query<EarlierStream>({
    name: 'pocketbase.find-streams',
    text: `select s.id, s.gateway, s.address, s.cursors, s.is_open
from system.pocketbase_streams s join system.versions v on v.name = 'schema' and v.version = s.schema_version
where s.caller = $1 and s.cursors ?| $2::text[]
  and s.seen_at > now() - make_interval(secs => $3::integer + case when s.is_open then $4::integer else 0 end)
order by s.seen_at desc limit ${maxEarlier}`,
    values: [caller, topics, keptSec, beatSec],
  });

interface FindOptions {
  readonly caller: string;
  readonly topics: readonly string[];
  readonly keptSec: number;
  readonly beatSec: number;
}

/** More streams of one caller are not read. */
const maxEarlier = 200;

/** Removes streams that nobody continues any more. */
export async function removeOldStreams(query: Query, keptSec: number): Promise<void> {
  await query({
    name: 'pocketbase.remove-streams',
    text: 'delete from system.pocketbase_streams where seen_at < now() - make_interval(secs => $1::integer)',
    values: [keptSec],
  });
}
