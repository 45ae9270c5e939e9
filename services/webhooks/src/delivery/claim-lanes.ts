import type { Query } from '@recordbus/database';
import { isFree } from '@recordbus/queue';
import { fits } from './batch-size.ts';
import {
  type ClaimLimits,
  claimValues,
  countLostLeases,
  type LeasedDelivery,
  ofWebhook,
  takeSlots,
  webhooksWithRoom,
} from './claim.ts';
import { laneQueue } from './lane-queue.ts';
import type { StreamPlace } from './stream-place.ts';

/** A leased lane, with what it takes from its webhook. */
interface ClaimedLane
  extends Omit<LeasedDelivery, 'delivery_id' | 'occurred_at' | 'attempt' | 'event' | 'body' | 'traceparent' | 'lane'> {
  readonly lane_id: string;
  readonly additions: number;
  readonly blocks: boolean;
  /** Null for a webhook without batches. */
  readonly batch_max: number | null;
}

/** One of a lane's first deliveries. */
interface FirstDelivery
  extends Pick<LeasedDelivery, 'delivery_id' | 'occurred_at' | 'attempt' | 'event' | 'body' | 'traceparent'> {
  readonly lane_id: string;
  /** The id of the request that had it before. */
  readonly batch_id: string | null;
  /** Whether a batch has room for it and those before it. */
  readonly fits: boolean;
}

/**
 * Leases lanes whose first delivery is due, and returns these deliveries, or the first ones for a batch. `claimDue` says which
 * webhooks are skipped. A delivery of an event behind the fan-out's place waits: an earlier one may still be added to its lane.
 */
export async function claimLanes(query: Query, limits: ClaimLimits, place: StreamPlace): Promise<LeasedDelivery[]> {
  const lanes = await leaseLanes(query, limits, place);
  if (lanes.length === 0) return [];
  // Another statement: by now nobody else ends these lanes' deliveries, and it sees all that were ended before.
  const found = await findFirst(query, lanes, place).catch(async (error: unknown) => {
    await laneQueue.release(query, lanes.map(leaseOf));
    throw error;
  });
  const first = Map.groupBy(found, ({ lane_id }) => lane_id);
  const empty = lanes.filter(({ lane_id }) => !first.has(lane_id));
  if (empty.length > 0) await laneQueue.release(query, empty.map(leaseOf));
  return lanes.flatMap(({ lane_id, additions, blocks, batch_max, ...lane }) =>
    sentTogether(first.get(lane_id) ?? []).map(({ lane_id: _same, batch_id, fits: _fits, ...delivery }) => ({
      ...lane,
      ...delivery,
      lane: { id: lane_id, additions, blocks },
      ...(batch_max !== null && { batch: { id: batch_id } }),
    })),
  );
}

/** A lane's next request: deliveries that were sent together before are again, and new ones are not added to them. */
function sentTogether(deliveries: readonly FirstDelivery[]): readonly FirstDelivery[] {
  const end = deliveries.findIndex(({ batch_id, fits }) => !fits || batch_id !== deliveries[0]?.batch_id);
  return end < 0 ? deliveries : deliveries.slice(0, end);
}

const leaseOf = ({ lane_id, lease_token }: ClaimedLane) => ({ id: lane_id, lease_token });

/** SQL: whether the fan-out has come past an ordered delivery `d`. */
const isPassed = (life: string, sequence: string): string =>
  `(d.stream_life, d.stream_sequence) <= (${life}::bigint, ${sequence}::bigint)`;

const leaseLanes = (query: Query, limits: ClaimLimits, { life, sequence }: StreamPlace): Promise<ClaimedLane[]> =>
  query<ClaimedLane>({
    name: 'lanes.claim',
    text: `${webhooksWithRoom('system.delivery_lanes')}, claimed as (
        ${laneQueue.claim({
          due: `select room.*, next.key
            from room cross join lateral (
              select q.id as key from system.delivery_lanes q
              where q.webhook_id = room.id and q.next_attempt_at <= now() and ${isFree('q')}
                and exists (select from system.ordered_deliveries d where d.lane_id = q.id and ${isPassed('$6', '$7')})
                and (room.batch_max is null or ${isBatchDue})
              order by q.next_attempt_at limit room.free for update skip locked
            ) as next
            limit $4`,
          leaseSec: '$5',
          set: [countLostLeases],
          returning: `q.id as lane_id, q.additions, q.webhook_id, q.lease_token, q.lost_leases, ${ofWebhook}`,
        })}
      ), ${takeSlots()}
      select claimed.*, w.on_failure = 'block' as blocks, (w.batch->>'max')::integer as batch_max
      from claimed join system.webhooks w on w.id = claimed.webhook_id`,
    values: [...claimValues(limits), life, sequence],
  });

/** SQL: whether the batch of lane `q` has waited long enough, is full, or was sent before. */
const isBatchDue = `(
                  q.next_attempt_at <= now() - room.batch_wait or room.batch_max <= (
                    select count(*) from (
                      select from system.ordered_deliveries d where d.lane_id = q.id and ${isPassed('$6', '$7')} limit room.batch_max
                    ) as passed
                  ) or (
                    select d.batch_id from system.ordered_deliveries d where d.lane_id = q.id
                    order by d.stream_life, d.stream_sequence, d.delivery_id limit 1
                  ) is not null
                )`;

const findFirst = (query: Query, lanes: readonly ClaimedLane[], { life, sequence }: StreamPlace) =>
  query<FirstDelivery>({
    name: 'lanes.first',
    text: `select first.lane_id, first.delivery_id, first.occurred_at::text as occurred_at, first.attempt, first.batch_id, first.fits,
        first.event, case when first.fits then nullif(first.body, 'null') end as body, first.traceparent
      from unnest($1::uuid[], $4::integer[]) as lane (id, max) cross join lateral (
        select d.*, e.event, e.body, e.traceparent, ${fits('e.body')} as fits
        from (
          select d.* from system.ordered_deliveries d where d.lane_id = lane.id and ${isPassed('$2', '$3')}
          order by d.stream_life, d.stream_sequence, d.delivery_id limit lane.max
        ) as d
        left join system.events e on e.id = d.event_id and e.occurred_at = d.occurred_at
        window before as (order by d.stream_life, d.stream_sequence, d.delivery_id)
      ) as first
      order by first.stream_life, first.stream_sequence, first.delivery_id`,
    values: [
      lanes.map(({ lane_id }) => lane_id),
      life,
      sequence,
      // A webhook without batches sends one.
      lanes.map(({ batch_max }) => batch_max ?? 1),
    ],
  });
