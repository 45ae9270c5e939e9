import type { Query } from '@recordbus/database';
import type { DeliveryLane } from './claim.ts';
import { removeEmptyLanes } from './lane-queue.ts';
import { type AttemptOutcome, columnsOf, logOutcomes } from './record-outcomes.ts';

/** The outcome of a delivery in a lane. */
export interface OrderedOutcome extends AttemptOutcome {
  readonly lane: DeliveryLane;
}

export const isOrdered = (outcome: AttemptOutcome): outcome is OrderedOutcome => outcome.lane !== undefined;

/**
 * Records outcomes as `recordOutcomes` does, and frees their lanes for the next delivery. A dead delivery that blocks stays
 * its lane's first one, and the lane waits for an admin. Outcomes of one lane must be recorded together, in its order.
 */
export async function recordOrderedOutcomes(
  query: Query,
  outcomes: readonly OrderedOutcome[],
): Promise<OrderedOutcome[]> {
  const rows = await query<{ lease_token: string }>({
    name: 'lanes.outcomes',
    text: `with outcome as (
        select * from unnest(
          $1::uuid[], $2::timestamptz[], $3::uuid[], $4::text[], $5::double precision[], $6::boolean[], $7::integer[],
          $8::integer[], $9::text[], $10::text[], $11::uuid[], $12::boolean[]
        ) with ordinality as o (delivery_id, occurred_at, token, verdict, delay_ms, attempted, duration_ms, code, response, error, lane_id, blocks,
          place)
      ), held as materialized (
        select o.*, o.verdict = 'dead' and o.blocks as is_blocking
        from system.delivery_lanes l join outcome o on l.id = o.lane_id and l.lease_token = o.token
        order by l.webhook_id, l.key for update of l
      ), ended as (
        delete from system.ordered_deliveries d using held h
        where d.delivery_id = h.delivery_id and h.verdict <> 'retry' and not h.is_blocking
        returning d.delivery_id, d.attempt + h.attempted::integer as attempt
      ), kept as (
        update system.ordered_deliveries d set attempt = d.attempt + h.attempted::integer
        from held h where d.delivery_id = h.delivery_id and (h.verdict = 'retry' or h.is_blocking)
        returning d.delivery_id, d.attempt
      ), mine as (
        select h.*, m.attempt from held h
        join (select * from ended union all select * from kept) as m using (delivery_id)
      ), freed as (
        update system.delivery_lanes l
        set lease_until = null, lease_token = null, lost_leases = 0,
          next_attempt_at = case when h.is_blocking then 'infinity'
            else clock_timestamp() + make_interval(secs => h.delay_ms / 1000) end,
          blocked_by = case when h.is_blocking then h.delivery_id end,
          blocked_at = case when h.is_blocking then clock_timestamp() end
        from (
          select distinct on (lane_id) * from held order by lane_id, is_blocking desc, verdict = 'retry' desc, place
        ) as h
        where l.id = h.lane_id
      ), ${logOutcomes}`,
    values: [...columnsOf(outcomes), outcomes.map(({ lane }) => lane.id), outcomes.map(({ lane }) => lane.blocks)],
  });
  const counted = new Set(rows.map(({ lease_token }) => lease_token));
  const ended = outcomes.filter(({ verdict }) => verdict !== 'retry');
  if (ended.length > 0)
    await removeEmptyLanes(
      query,
      ended.map(({ lane }) => lane),
    );
  return outcomes.filter(({ leaseToken }) => counted.has(leaseToken));
}
