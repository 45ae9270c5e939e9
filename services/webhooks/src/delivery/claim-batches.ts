import type { Query } from '@recordbus/database';
import { isFree } from '@recordbus/queue';
import { fits } from './batch-size.ts';
import {
  type ClaimLimits,
  claimValues,
  countLostLeases,
  deliveries,
  type LeasedDelivery,
  ofWebhook,
  releaseLeases,
  takeSlots,
  webhooksWithRoom,
} from './claim.ts';

/** A leased row. */
interface ClaimedRow extends Omit<LeasedDelivery, 'batch' | 'lane'> {
  /** The id of the request that had it before. */
  readonly batch_id: string | null;
  /** Whether the batch has room for it. */
  readonly fits: boolean;
}

/**
 * Leases at most one batch of each webhook with batches: first those that were sent before and are due again, then new ones
 * that are full or have waited long enough. `claimDue` says which webhooks are skipped; a batch counts there as one delivery.
 */
export async function claimBatches(query: Query, limits: ClaimLimits): Promise<LeasedDelivery[]> {
  const again = await take(query, 'batches.claim-again', sentBefore, limits);
  const inFlight = new Map(limits.inFlight);
  const taken = new Set(again.map(({ webhook_id }) => webhook_id));
  for (const id of taken) inFlight.set(id, (inFlight.get(id) ?? 0) + 1);
  const limit = limits.limit - taken.size;
  const rows = [
    ...again,
    ...(limit > 0 ? await take(query, 'batches.claim', notSentBefore, { ...limits, inFlight, limit }) : []),
  ];
  const late = rows.filter((row) => !row.fits);
  if (late.length > 0) await releaseLeases(query, late);
  return rows
    .filter((row) => row.fits)
    .map(({ batch_id, fits: _fits, ...delivery }) => ({ ...delivery, batch: { id: batch_id } }));
}

/** SQL: the keys of a webhook's batch that failed and is due again. Who locks its first row has the batch. */
const sentBefore = `select q.delivery_id as key from (
                select f.batch_id from system.delivery_queue f
                where f.webhook_id = room.id and f.batch_id is not null and f.next_attempt_at <= now() and ${isFree('f')}
                  and not exists (
                    select from system.delivery_queue o where o.batch_id = f.batch_id
                      and (o.delivery_id < f.delivery_id or o.next_attempt_at > now() or not ${isFree('o')})
                  )
                order by f.next_attempt_at limit 1 for update skip locked
              ) as first join system.delivery_queue q on q.batch_id = first.batch_id
              order by q.delivery_id limit room.batch_max for update of q skip locked`;

/** SQL: the keys of a webhook's new batch. */
const notSentBefore = `select key from (
                select q.delivery_id as key, count(*) over () as size, min(q.next_attempt_at) over () as first
                from (
                  select q.* from system.delivery_queue q
                  where q.webhook_id = room.id and q.batch_id is null and q.next_attempt_at <= now() and ${isFree('q')}
                  order by q.next_attempt_at limit room.batch_max for update skip locked
                ) as q
              ) as found where size >= room.batch_max or first <= now() - room.batch_wait`;

const take = (query: Query, name: string, keys: string, limits: ClaimLimits): Promise<ClaimedRow[]> =>
  query<ClaimedRow>({
    name,
    text: `${webhooksWithRoom('system.delivery_queue', 'w.batch is not null')}, claimed as (
        ${deliveries.claim({
          due: `select room.*, next.key
            from (select * from room where free > 0 limit $4) as room cross join lateral (
              ${keys}
            ) as next`,
          leaseSec: '$5',
          set: [countLostLeases],
          returning: `q.delivery_id, q.occurred_at, q.event_id, q.webhook_id, q.attempt, q.lease_token, q.lost_leases, q.batch_id,
            ${ofWebhook}`,
        })}
      ), ${takeSlots('1')}
      select c.delivery_id, c.occurred_at::text as occurred_at, c.webhook_id, c.attempt, c.lease_token, c.lost_leases,
        c.url, c.secret, c.previous_secret, c.failing, c.headers, c.retry_max, c.retry_backoff, c.retry_delay_ms, c.timeout_ms,
        c.rate, c.owner_collection, c.owner_id, c.batch_id, c.fits, c.event, case when c.fits then nullif(c.body, 'null') end as body,
        c.traceparent
      from (
        select claimed.*, e.event, e.body, e.traceparent, ${fits('e.body')} as fits
        from claimed left join system.events e on e.id = claimed.event_id and e.occurred_at = claimed.occurred_at
        window before as (partition by claimed.webhook_id order by claimed.delivery_id)
      ) as c order by c.delivery_id`,
    values: claimValues(limits),
  });

/** Returns in how many milliseconds the next batch has waited long enough; null for none that waits. */
export async function findNextBatchMs(query: Query): Promise<number | null> {
  const [row] = await query<{ ms: number | null }>({
    name: 'batches.next',
    text: `select ceil(extract(epoch from min(next.at) - now()) * 1000)::integer as ms
      from (
        select id, make_interval(secs => (batch->>'wait_ms')::double precision / 1000) as wait
        from system.webhooks where batch is not null and enabled and type = 'http'
      ) as w cross join lateral (
        (
          select q.next_attempt_at + w.wait as at from system.delivery_queue q
          where q.webhook_id = w.id and q.batch_id is null and ${isFree('q')}
          order by q.next_attempt_at limit 1
        )
        union all
        (
          select l.next_attempt_at + w.wait from system.delivery_lanes l
          where l.webhook_id = w.id and l.next_attempt_at > now() - w.wait and l.next_attempt_at <= now() and ${isFree('l')}
          order by l.next_attempt_at limit 1
        )
      ) as next
      where next.at > now()`,
    values: [],
  });
  return row?.ms ?? null;
}
