import type { Query } from '@recordbus/database';
import { type QueueTable, queueTable } from '@recordbus/queue';

/** The lanes: their deliveries follow one another (webhooks §2.10). The lane's lease is its first delivery's. */
export const laneQueue: QueueTable<'id'> = queueTable({ table: 'system.delivery_lanes', key: 'id' });

/** A lane under a lease. */
export interface LeasedLane {
  readonly id: string;
  readonly lease_token: string;
}

/** A lane, and how many additions it had when it was leased. */
export interface SeenLane {
  readonly id: string;
  readonly additions: number;
}

/** Extends leases by `leaseSec` from now, and returns the tokens of those that were still held. */
export async function renewLanes(query: Query, lanes: readonly LeasedLane[], leaseSec: number): Promise<Set<string>> {
  const rows = await query<{ lease_token: string }>({
    name: 'lanes.renew',
    text: `update system.delivery_lanes l set lease_until = clock_timestamp() + make_interval(secs => $3)
      where l.id in (
        select q.id from unnest($1::uuid[], $2::uuid[]) as lease (id, token)
        join system.delivery_lanes q on q.id = lease.id and q.lease_token = lease.token for update of q skip locked
      )
      returning l.lease_token`,
    values: [lanes.map(({ id }) => id), lanes.map(({ lease_token }) => lease_token), leaseSec],
  });
  return new Set(rows.map(({ lease_token }) => lease_token));
}

/** What the webhooks use. */
interface Use {
  /** Whether an ordered webhook exists, or a delivery in a lane. */
  readonly hasLanes: boolean;
  /** Whether a webhook has batches. */
  readonly hasBatches: boolean;
}

/** Finds whether there are lanes and batches to claim. */
export async function findUse(query: Query): Promise<Use> {
  const [row] = await query<Use>({
    name: 'lanes.use',
    text: `select exists (select from system.webhooks where ordering <> 'none')
        or exists (select from system.delivery_lanes) as "hasLanes",
        exists (select from system.webhooks where batch is not null) as "hasBatches"`,
    values: [],
  });
  return row ?? { hasLanes: false, hasBatches: false };
}

/**
 * Removes lanes that have become empty. A lane that has got a delivery since it was seen stays, even if that is not committed
 * yet: its additions have grown.
 */
export async function removeEmptyLanes(query: Query, seen: readonly SeenLane[]): Promise<void> {
  await query({
    name: 'lanes.remove-empty',
    text: `delete from system.delivery_lanes l using unnest($1::uuid[], $2::bigint[]) as seen (id, additions)
      where l.id = seen.id and l.additions = seen.additions and l.lease_token is null
        and not exists (select from system.ordered_deliveries d where d.lane_id = l.id)
        and l.id in (select id from system.delivery_lanes where id = any($1) for update skip locked)`,
    values: [seen.map(({ id }) => id), seen.map(({ additions }) => additions)],
  });
}

/**
 * Frees lanes whose block no longer counts: the webhook skips dead deliveries by now, or the log no longer has the delivery.
 * Returns whether lanes were freed.
 */
export async function freeLanes(query: Query): Promise<boolean> {
  const [row] = await query<{ freed: number }>({
    name: 'lanes.free',
    text: `with freed as (
        update system.delivery_lanes l set blocked_by = null, blocked_at = null, next_attempt_at = clock_timestamp()
        from system.webhooks w
        where l.blocked_by is not null and w.id = l.webhook_id and (
          w.on_failure = 'skip' or not exists (select from system.ordered_deliveries d where d.delivery_id = l.blocked_by)
        )
        returning l.id
      ), skipped as (
        delete from system.ordered_deliveries d
        using system.delivery_lanes l, system.ordered_deliveries dead, system.webhooks w
        where dead.delivery_id = l.blocked_by and w.id = l.webhook_id and w.on_failure = 'skip'
          and d.lane_id = l.id and (d.delivery_id = dead.delivery_id or d.batch_id = dead.batch_id)
      )
      select count(*) as freed from freed`,
    values: [],
  });
  return (row?.freed ?? 0) > 0;
}

/** Below every lane's id. */
export const beforeLanes = '00000000-0000-0000-0000-000000000000';

/** How many lanes one call of `removeAbandonedLanes` looks at. */
const atOnce = 300;

/**
 * Removes lanes that a process left empty when it died, among the next ones behind an id. Returns the id behind which the
 * next call continues.
 */
export async function removeAbandonedLanes(query: Query, after: string): Promise<string> {
  const next = await query<SeenLane & { readonly is_empty: boolean }>({
    name: 'lanes.next',
    text: `select l.id, l.additions, l.lease_token is null and first.is_there is null as is_empty
      from (select id, additions, lease_token from system.delivery_lanes where id > $1 order by id limit ${atOnce}) l
      left join lateral (
        select true as is_there from system.ordered_deliveries d where d.lane_id = l.id limit 1
      ) first on true
      order by l.id`,
    values: [after],
  });
  const empty = next.filter(({ is_empty }) => is_empty);
  if (empty.length > 0) await removeEmptyLanes(query, empty);
  return (next.length === atOnce && next.at(-1)?.id) || beforeLanes;
}
