import type { Query } from '@recordbus/database';

/** When a webhook that fails is paused and disabled; 0 turns either off. */
export interface HealthPolicy {
  readonly pauseAfterSec: number;
  readonly pauseSec: number;
  readonly disableAfterSec: number;
}

/** What the recorded attempts of one webhook were, lately. */
export interface Result {
  readonly webhookId: string;
  readonly succeeded: boolean;
  readonly failures: number;
}

interface Noted {
  readonly id: string;
  readonly paused: boolean;
  /** Its pause ended with this result. */
  readonly reopened: boolean;
  /** It has failed for as long as a webhook may. */
  readonly isHopeless: boolean;
}

/** A webhook with so few failures is neither paused nor disabled, however long ago the first of them was. */
export const leastFailures = 5;

/**
 * Brings the health of webhooks up to date: a success ends a row of failures and a pause, a failure prolongs the row
 * and, when that has lasted long enough, begins the next pause. Gives the webhooks for which something changed.
 */
export function noteResults(query: Query, results: readonly Result[], policy: HealthPolicy): Promise<Noted[]> {
  return query<Noted>({
    name: 'webhook.health',
    text: `with result as (
        select * from unnest($1::text[], $2::boolean[], $3::integer[]) as r (webhook_id, succeeded, failures)
      ), before as (
        select w.id, w.paused_until, r.succeeded, w.failures + r.failures as failures,
          coalesce(w.failing_since, clock_timestamp()) as failing_since
        from system.webhooks w join result r on r.webhook_id = w.id and (not r.succeeded or w.failing_since is not null)
        order by w.id for no key update of w
      ), judged as (
        select *, not succeeded and $4 > 0 and failures >= ${leastFailures}
          and failing_since <= clock_timestamp() - make_interval(secs => $4) as pauses
        from before
      )
      update system.webhooks w set
        failures = case when j.succeeded then 0 else j.failures end,
        failing_since = case when not j.succeeded then j.failing_since end,
        paused_until = case when j.pauses then clock_timestamp() + make_interval(secs => $5) end
      from judged j where w.id = j.id
      returning w.id, j.pauses as paused, j.succeeded and j.paused_until is not null as reopened,
        not j.succeeded and $6 > 0 and j.failures >= ${leastFailures}
          and j.failing_since <= clock_timestamp() - make_interval(secs => $6) as "isHopeless"`,
    values: [
      results.map(({ webhookId }) => webhookId),
      results.map(({ succeeded }) => succeeded),
      results.map(({ failures }) => failures),
      policy.pauseAfterSec,
      policy.pauseSec,
      policy.disableAfterSec,
    ],
  });
}
