import { type Bus, type EventStream, getConsumer, webhooksConsumer } from '@recordbus/bus';
import type { Query } from '@recordbus/database';
import { createMetrics, type Metrics, sampledGauge } from '@recordbus/process/metrics';
import { countRows } from '@recordbus/queue';
import type { LeasedDelivery } from './delivery/claim.ts';
import type { AttemptOutcome } from './delivery/record-outcomes.ts';

/** This service's metrics, and the calls that update them. */
interface WebhookMetrics {
  readonly metrics: Metrics;
  /** Call it when an attempt begins. */
  begin(claim: LeasedDelivery): void;
  /** Call it with the recorded outcomes that counted. */
  record(outcomes: readonly AttemptOutcome[]): void;
}

interface WebhookMetricsOptions {
  readonly query: Query;
  readonly bus: Bus;
  readonly stream: EventStream;
  /** Returns how many attempts are in progress in this process. */
  readonly underWay: () => number;
}

/** SQL: whether the webhook of a queued delivery is read instead of called. */
const isPolled = "q.webhook_id in (select id from system.webhooks where type = 'poll')";

/** Creates this process's metrics. */
export function createWebhookMetrics({ query, bus, stream, underWay }: WebhookMetricsOptions): WebhookMetrics {
  const metrics = createMetrics('webhooks');
  const attempts = metrics.counter('recordbus_webhook_attempts_total', 'Attempts by result.', ['result']);
  const attemptDuration = metrics.duration('recordbus_webhook_attempt_seconds', 'Attempt duration.');
  const firstAttempt = metrics.duration(
    'recordbus_webhook_first_attempt_seconds',
    "Time from the event's commit (or the request to redeliver it) to the first attempt.",
  );
  countRows(metrics, query, {
    name: 'recordbus_webhook_deliveries_pending',
    help: "Deliveries that wait to be sent, disabled webhooks' included.",
    from: `(
        select from system.delivery_queue q where not ${isPolled} union all select from system.ordered_deliveries
      ) as waiting`,
  });
  countRows(metrics, query, {
    name: 'recordbus_webhook_events_unread',
    help: 'Events of webhooks with the type poll that nobody has read yet.',
    from: `system.delivery_queue q where ${isPolled}`,
  });
  countRows(metrics, query, {
    name: 'recordbus_webhooks_paused',
    help: 'Webhooks that are paused because their receivers keep failing.',
    from: 'system.webhooks where enabled and paused_until is not null',
  });
  sampledGauge(metrics, {
    name: 'recordbus_webhook_attempts_under_way',
    help: 'Attempts in progress.',
    sample: underWay,
  });
  sampledGauge(metrics, {
    name: 'recordbus_stream_lag',
    help: 'Events on the stream that the webhooks service has not processed yet.',
    isShared: true,
    async sample() {
      const { waiting, inProgress } = await getConsumer(bus, stream, webhooksConsumer);
      return waiting + inProgress;
    },
  });
  return {
    metrics,
    begin(claim) {
      if (claim.attempt > 0 || claim.lost_leases > 0) return;
      firstAttempt.observe(Math.max(0, Date.now() - timeOfIdMs(claim.delivery_id)) / 1000);
    },
    record(outcomes) {
      for (const outcome of outcomes) {
        attempts.inc({ result: resultOf(outcome) });
        if (outcome.attempted) attemptDuration.observe(outcome.durationMs / 1000);
      }
    },
  };
}

/**
 * Returns the time in a UUIDv7, in milliseconds: for a delivery, when its event happened or its redelivery was
 * requested.
 */
const timeOfIdMs = (deliveryId: string): number => Number.parseInt(deliveryId.replace('-', '').slice(0, 12), 16);

function resultOf({ attempted, verdict, responseCode }: AttemptOutcome): string {
  if (!attempted) return 'not_made';
  if (verdict === 'success') return 'success';
  return responseCode === null ? 'no_answer' : 'refused';
}
