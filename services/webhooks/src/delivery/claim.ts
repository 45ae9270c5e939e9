import type { Query } from '@recordbus/database';
import { isFree, type QueueTable, queueTable } from '@recordbus/queue';
import type { SeenLane } from './lane-queue.ts';

/** The queue without lanes. */
export const deliveries: QueueTable<'delivery_id'> = queueTable({ table: 'system.delivery_queue', key: 'delivery_id' });

export const { renew: renewLeases, release: releaseLeases } = deliveries;

/** A delivery that this process has leased, with everything that an attempt needs. */
export interface LeasedDelivery {
  readonly delivery_id: string;
  readonly occurred_at: string;
  readonly webhook_id: string;
  /** Recorded attempts so far. */
  readonly attempt: number;
  /** Needed to record the outcome. */
  readonly lease_token: string;
  /** Leases that ran out since the last recorded attempt. */
  readonly lost_leases: number;
  readonly event: string;
  /** Null when the event is no longer kept. */
  readonly body: string | null;
  readonly traceparent: string | null;
  readonly url: string;
  readonly secret: string;
  /** The previous secret, while it signs too. */
  readonly previous_secret: string | null;
  /** Whether the webhook's latest attempts all failed. */
  readonly failing: boolean;
  readonly headers: Record<string, string>;
  readonly retry_max: number;
  readonly retry_backoff: 'exponential' | 'fixed';
  readonly retry_delay_ms: number;
  readonly timeout_ms: number;
  /** The record that owns the webhook: its collection's id and its own; null for an admin's webhook. */
  readonly owner_collection: string | null;
  readonly owner_id: string | null;
  /** The webhook's most deliveries a second; null for no limit. */
  readonly rate: number | null;
  /** The lane whose lease this is; undefined for a delivery without order. */
  readonly lane?: DeliveryLane;
  /** What the request that has this delivery may have beside it; undefined if its body is not a list. */
  readonly batch?: BatchShare;
}

/** A delivery's share in a batch. Deliveries that were leased together have equal ones. */
export interface BatchShare {
  /** The id of the request that had these deliveries before; null for new ones. */
  readonly id: string | null;
}

/** An ordered delivery's lane. */
export interface DeliveryLane extends SeenLane {
  /** Whether the delivery blocks the lane when it is dead. */
  readonly blocks: boolean;
}

export interface ClaimLimits {
  /** How many deliveries to lease at most. */
  readonly limit: number;
  /** How many attempts this process may have in progress for one webhook. */
  readonly perWebhook: number;
  /** How many attempts this process has in progress, by webhook. */
  readonly inFlight: ReadonlyMap<string, number>;
  readonly leaseSec: number;
}

/**
 * Leases due deliveries, each with a new token. The statement skips webhooks at their share, so a hanging receiver's
 * backlog never delays others. It finds the queued webhooks by skipping along the index, and reads only a part. It also
 * skips paused webhooks; after a pause, one replica gets one delivery, and the others wait for its outcome. A webhook
 * with a rate has a slot every 1/rate seconds, and keeps unused slots for a tenth of a second; one replica at a time
 * takes some. The webhooks in `held` are locked for that.
 */
export function claimDue(
  query: Query,
  { limit, perWebhook, inFlight, leaseSec }: ClaimLimits,
): Promise<LeasedDelivery[]> {
  return query<LeasedDelivery>({
    name: 'delivery.claim',
    text: `${webhooksWithRoom('system.delivery_queue', 'w.batch is null')}, claimed as (
        ${deliveries.claim({
          due: `select room.*, next.key
            from room cross join lateral (
              select q.delivery_id as key from system.delivery_queue q
              where q.webhook_id = room.id and q.next_attempt_at <= now() and ${isFree('q')}
              order by q.next_attempt_at limit room.free for update skip locked
            ) as next
            limit $4`,
          leaseSec: '$5',
          set: [countLostLeases],
          returning: `q.delivery_id, q.occurred_at, q.event_id, q.webhook_id, q.attempt, q.lease_token, q.lost_leases, ${ofWebhook}`,
        })}
      ), ${takeSlots()}
      select c.delivery_id, c.occurred_at::text as occurred_at, c.webhook_id, c.attempt, c.lease_token, c.lost_leases,
        c.url, c.secret, c.previous_secret, c.failing, c.headers, c.retry_max, c.retry_backoff, c.retry_delay_ms, c.timeout_ms,
        c.rate, c.owner_collection, c.owner_id, e.event, nullif(e.body, 'null') as body, e.traceparent
      from claimed c left join system.events e on e.id = c.event_id and e.occurred_at = c.occurred_at`,
    values: claimValues({ limit, perWebhook, inFlight, leaseSec }),
  });
}

/** The values of a claim's parameters. */
export const claimValues = ({ limit, perWebhook, inFlight, leaseSec }: ClaimLimits): unknown[] => [
  [...inFlight.keys()],
  [...inFlight.values()],
  perWebhook,
  limit,
  leaseSec,
];

/** SQL: the webhooks `w` with rows in a queue whose deliveries may be sent, and how many of each: `room`. */
export const webhooksWithRoom = (queue: string, condition = 'true'): string => `with recursive waiting (webhook_id) as (
        (select webhook_id from ${queue} order by webhook_id limit 1)
        union all
        select (
          select q.webhook_id from ${queue} q
          where q.webhook_id > waiting.webhook_id order by q.webhook_id limit 1
        ) from waiting where waiting.webhook_id is not null
      ), held as materialized (
        select w.id, w.paused_until is not null as is_probed, w.rate,
          greatest(w.rate_next, now() - make_interval(secs => greatest(0.1 - 1 / w.rate, 0))) as slot
        from waiting join system.webhooks w on w.id = waiting.webhook_id
        where w.enabled and ${condition} and case when w.paused_until is null then w.rate is not null else w.paused_until <= now() end
        for no key update of w skip locked
      ), room as materialized (
        select w.id, w.url, w.secret, w.headers, w.retry_max, w.retry_backoff, w.retry_delay_ms, w.timeout_ms, w.rate,
          w.owner_collection, w.owner_id, w.failing_since is not null as failing, (w.batch->>'max')::integer as batch_max,
          make_interval(secs => (w.batch->>'wait_ms')::double precision / 1000) as batch_wait,
          case when w.previous_secret_until > now() then w.previous_secret end as previous_secret,
          greatest(0, least(
            case when held.is_probed then 1 else $3::integer - coalesce(busy.in_flight, 0) end,
            1 + floor(extract(epoch from now() - held.slot) * held.rate)
          ))::integer as free
        from waiting
        join system.webhooks w on w.id = waiting.webhook_id and w.enabled and w.type = 'http' and ${condition}
        left join held on held.id = w.id
        left join unnest($1::text[], $2::integer[]) as busy (webhook_id, in_flight) on busy.webhook_id = w.id
        where case when w.paused_until is null then coalesce(busy.in_flight, 0) < $3::integer else true end
          and (held.id is not null or (w.paused_until is null and w.rate is null))
        order by random()
      )`;

/** SQL: what an attempt needs from the webhook in `due`. */
export const ofWebhook = `due.url,
            due.secret, due.previous_secret, due.failing, due.headers, due.retry_max, due.retry_backoff, due.retry_delay_ms,
            due.timeout_ms, due.rate, due.owner_collection, due.owner_id`;

/** SQL: an expired lease is a lost one. */
export const countLostLeases = 'lost_leases = q.lost_leases + (q.lease_until is not null)::integer';

/** SQL: the rows in `claimed` take their webhooks' slots, `count` (SQL) of each, and a paused webhook's only attempt. */
export const takeSlots = (count = 'count(*)'): string => `taken as (
        update system.webhooks w
        set rate_next = held.slot + make_interval(secs => of_webhook.count / held.rate),
          paused_until = case when held.is_probed
            then clock_timestamp() + make_interval(secs => $5 + w.timeout_ms / 1000.0) end
        from held join (select webhook_id, ${count} as count from claimed group by 1) as of_webhook on of_webhook.webhook_id = held.id
        where w.id = held.id
      )`;
