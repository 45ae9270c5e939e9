import type { Query } from '@recordbus/database';
import { isFree } from '@recordbus/queue';
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
}

/** A lane's first delivery. */
type FirstDelivery = Pick<
  LeasedDelivery,
  'delivery_id' | 'occurred_at' | 'attempt' | 'event' | 'body' | 'traceparent'
> & { readonly lane_id: string };

/**
 * Leases lanes whose first delivery is due, and returns these deliveries. `claimDue` says which webhooks are skipped. A
 * delivery of an event behind the fan-out's place waits: an earlier one may still be added to its lane.
 */
export async function claimLanes(query: Query, limits: ClaimLimits, place: StreamPlace): Promise<LeasedDelivery[]> {
  const lanes = await leaseLanes(query, limits, place);
  if (lanes.length === 0) return [];
  // Another statement: by now nobody else ends these lanes' deliveries, and it sees all that were ended before.
  const found = await findFirst(query, lanes, place).catch(async (error: unknown) => {
    await laneQueue.release(query, lanes.map(leaseOf));
    throw error;
  });
  const first = new Map(found.map((delivery) => [delivery.lane_id, delivery]));
  const empty = lanes.filter(({ lane_id }) => !first.has(lane_id));
  if (empty.length > 0) await laneQueue.release(query, empty.map(leaseOf));
  return lanes.flatMap(({ lane_id, additions, blocks, ...lane }) => {
    const { lane_id: _same, ...delivery } = first.get(lane_id) ?? { lane_id: undefined };
    return 'delivery_id' in delivery ? [{ ...lane, ...delivery, lane: { id: lane_id, additions, blocks } }] : [];
  });
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
              order by q.next_attempt_at limit room.free for update skip locked
            ) as next
            limit $4`,
          leaseSec: '$5',
          set: [countLostLeases],
          returning: `q.id as lane_id, q.additions, q.webhook_id, q.lease_token, q.lost_leases, ${ofWebhook}`,
        })}
      ), ${takeSlots}
      select claimed.*, w.on_failure = 'block' as blocks
      from claimed join system.webhooks w on w.id = claimed.webhook_id`,
    values: [...claimValues(limits), life, sequence],
  });

const findFirst = (query: Query, lanes: readonly ClaimedLane[], { life, sequence }: StreamPlace) =>
  query<FirstDelivery>({
    name: 'lanes.first',
    text: `select first.lane_id, first.delivery_id, first.occurred_at::text as occurred_at, first.attempt, e.event,
        nullif(e.body, 'null') as body, e.traceparent
      from unnest($1::uuid[]) as lane (id) cross join lateral (
        select d.* from system.ordered_deliveries d where d.lane_id = lane.id and ${isPassed('$2', '$3')}
        order by d.stream_life, d.stream_sequence, d.delivery_id limit 1
      ) as first
      left join system.events e on e.id = first.event_id and e.occurred_at = first.occurred_at`,
    values: [lanes.map(({ lane_id }) => lane_id), life, sequence],
  });
