import type { Query } from '@recordbus/database';
import type { DeliveryLane } from './claim.ts';

/** A leased delivery's result. */
export interface AttemptOutcome {
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly occurredAt: string;
  readonly leaseToken: string;
  /** Whether the webhook or this delivery failed before, so that a success may change the webhook's health. */
  readonly wasFailing: boolean;
  /** Whether the receiver asked to be sent nothing more (webhooks §3.5). */
  readonly asksToDisable: boolean;
  readonly verdict: 'success' | 'dead' | 'retry';
  /** Wait before the next attempt; 0 unless the verdict is retry. */
  readonly delayMs: number;
  /** Whether a request was made, so that it counts as an attempt. */
  readonly attempted: boolean;
  readonly durationMs: number;
  readonly responseCode: number | null;
  readonly responseBody: string | null;
  readonly error: string | null;
  /** Whether the request has another delivery, whose outcome counts the attempt (webhooks §2.11). */
  readonly isSameRequest?: boolean;
  /** The lane of an ordered delivery. */
  readonly lane?: DeliveryLane | undefined;
}

/** The outcomes as ten lists, for `unnest`. */
export function columnsOf(outcomes: readonly AttemptOutcome[]): unknown[] {
  const column = <K extends keyof AttemptOutcome>(key: K) => outcomes.map((outcome) => outcome[key]);
  return [
    column('deliveryId'),
    column('occurredAt'),
    column('leaseToken'),
    column('verdict'),
    column('delayMs'),
    column('attempted'),
    column('durationMs'),
    column('responseCode'),
    column('responseBody'),
    column('error'),
  ];
}

/** A statement's end: the outcomes in its CTE `mine` go to the delivery log. Returns their lease tokens. */
export const logOutcomes = `logged as (
        insert into system.delivery_attempts (delivery_id, occurred_at, attempt, at, response_code, duration_ms, error)
        select delivery_id, occurred_at, attempt, clock_timestamp() - make_interval(secs => duration_ms / 1000.0),
          code, duration_ms, error
        from mine where attempted on conflict do nothing
      )
      update system.deliveries d
      set status = case mine.verdict when 'retry' then 'pending' else mine.verdict end, attempt = mine.attempt,
        response_code = mine.code, response_body = mine.response, error = mine.error, updated_at = clock_timestamp(),
        completed_at = case when mine.verdict <> 'retry' then clock_timestamp() end
      from mine where d.id = mine.delivery_id and d.occurred_at = mine.occurred_at
      returning mine.token as lease_token`;

/**
 * Records outcomes in one statement and returns those that counted. An outcome whose lease token is no longer in the
 * queue changes nothing: another replica has the delivery, the outcome was recorded before, or the webhook was deleted.
 * It is therefore safe to record the same outcomes again.
 */
export async function recordOutcomes(query: Query, outcomes: readonly AttemptOutcome[]): Promise<AttemptOutcome[]> {
  const rows = await query<{ lease_token: string }>({
    name: 'delivery.outcomes',
    text: `with outcome as (
        select * from unnest(
          $1::uuid[], $2::timestamptz[], $3::uuid[], $4::text[], $5::double precision[], $6::boolean[], $7::integer[],
          $8::integer[], $9::text[], $10::text[]
        ) as o (delivery_id, occurred_at, token, verdict, delay_ms, attempted, duration_ms, code, response, error)
      ), ended as (
        delete from system.delivery_queue q using outcome o
        where q.delivery_id = o.delivery_id and q.lease_token = o.token and o.verdict <> 'retry'
        returning q.delivery_id, q.attempt + o.attempted::integer as attempt
      ), repeated as (
        update system.delivery_queue q
        set attempt = q.attempt + o.attempted::integer, lease_until = null, lease_token = null, lost_leases = 0,
          next_attempt_at = clock_timestamp() + make_interval(secs => o.delay_ms / 1000)
        from outcome o where q.delivery_id = o.delivery_id and q.lease_token = o.token and o.verdict = 'retry'
        returning q.delivery_id, q.attempt
      ), mine as (
        select o.*, m.attempt from outcome o
        join (select * from ended union all select * from repeated) as m using (delivery_id)
      ), ${logOutcomes}`,
    values: columnsOf(outcomes),
  });
  const counted = new Set(rows.map(({ lease_token }) => lease_token));
  return outcomes.filter(({ leaseToken }) => counted.has(leaseToken));
}
