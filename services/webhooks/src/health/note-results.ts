import type { Query } from '@recordbus/database';

/** When a failing webhook is paused, and when it is disabled. 0 means never. */
export interface HealthPolicy {
  readonly pauseAfterSec: number;
  readonly pauseSec: number;
  readonly disableAfterSec: number;
}

/** One webhook's recorded attempts in a batch. */
export interface Result {
  readonly webhookId: string;
  readonly succeeded: boolean;
  readonly failures: number;
}

interface HealthChange {
  readonly id: string;
  readonly paused: boolean;
  /** Whether this result ended its pause. */
  readonly reopened: boolean;
  /** Whether it has failed for so long that it is to be disabled. */
  readonly isHopeless: boolean;
}

/** A webhook with fewer failures is neither paused nor disabled, however old its first failure is. */
export const minFailures = 5;

/**
 * Updates webhooks' health and returns the changed ones. A success ends a run of failures and a pause; a failure
 * extends the run and, when that has lasted long enough, begins the next pause. A success waits for failures that
 * another replica is writing, since it came after them.
 */
export function noteResults(query: Query, results: readonly Result[], policy: HealthPolicy): Promise<HealthChange[]> {
  return query<HealthChange>({
    name: 'webhook.health',
    text: `with result as (
        select * from unnest($1::text[], $2::boolean[], $3::integer[]) as r (webhook_id, succeeded, failures)
      ), before as (
        select w.id, w.paused_until, r.succeeded, w.failures + r.failures as failures,
          w.failing_since is not null as was_failing, coalesce(w.failing_since, clock_timestamp()) as failing_since
        from system.webhooks w join result r on r.webhook_id = w.id
        order by w.id for no key update of w
      ), judged as (
        select *, not succeeded and $4 > 0 and failures >= ${minFailures}
          and failing_since <= clock_timestamp() - make_interval(secs => $4) as pauses
        from before where not succeeded or was_failing
      )
      update system.webhooks w set
        failures = case when j.succeeded then 0 else j.failures end,
        failing_since = case when not j.succeeded then j.failing_since end,
        paused_until = case when j.pauses then clock_timestamp() + make_interval(secs => $5) end
      from judged j where w.id = j.id
      returning w.id, j.pauses as paused, j.succeeded and j.paused_until is not null as reopened,
        not j.succeeded and $6 > 0 and j.failures >= ${minFailures}
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
