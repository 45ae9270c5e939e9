import type { Bus, EventStream } from '@recordbus/bus';
import type { Query } from '@recordbus/database';
import { createMetrics, type Metrics, sampledGauge } from '@recordbus/shared/metrics';
import type { Claim } from './delivery/claim.ts';
import type { Outcome } from './delivery/record-outcomes.ts';
import { durableName } from './fan-out/event-consumer.ts';

/** What this service measures, and the places that it is told from. */
interface WebhookMetrics {
  readonly metrics: Metrics;
  /** An attempt begins. */
  begin(claim: Claim): void;
  /** Outcomes were recorded and counted. */
  record(outcomes: readonly Outcome[]): void;
}

interface WebhookMetricsOptions {
  readonly query: Query;
  readonly bus: Bus;
  readonly stream: EventStream;
  /** Attempts that this process has under way. */
  readonly underWay: () => number;
}

/** Makes the metrics of this process. */
export function createWebhookMetrics({ query, bus, stream, underWay }: WebhookMetricsOptions): WebhookMetrics {
  const metrics = createMetrics('webhooks');
  const attempts = metrics.counter('recordbus_webhook_attempts_total', 'Attempts by what came of them.', ['result']);
  const attemptDuration = metrics.duration('recordbus_webhook_attempt_seconds', 'Length of an attempt.');
  const firstAttempt = metrics.duration(
    'recordbus_webhook_first_attempt_seconds',
    'From the commit of the event (or the request to send it again) to the first attempt.',
  );
  const count = (from: string) => async (): Promise<number> => {
    const [row] = await query<{ count: number }>({ text: `select count(*) from ${from}`, values: [] });
    return row?.count ?? 0;
  };
  sampledGauge(metrics, {
    name: 'recordbus_webhook_deliveries_pending',
    help: 'Deliveries that are still to be sent, those of disabled webhooks included.',
    sample: count('system.delivery_queue'),
    isShared: true,
  });
  sampledGauge(metrics, {
    name: 'recordbus_webhooks_paused',
    help: 'Webhooks that are paused because their receivers only fail.',
    sample: count('system.webhooks where enabled and paused_until is not null'),
    isShared: true,
  });
  sampledGauge(metrics, {
    name: 'recordbus_webhook_attempts_under_way',
    help: 'Attempts that are being made.',
    sample: underWay,
  });
  sampledGauge(metrics, {
    name: 'recordbus_stream_lag',
    help: 'Events on the stream of which no deliveries were made yet.',
    isShared: true,
    async sample() {
      const { consumers } = await bus.jetstreamManager();
      const { num_pending, num_ack_pending } = await consumers.info(stream.name, durableName);
      return num_pending + num_ack_pending;
    },
  });
  return {
    metrics,
    begin(claim) {
      if (claim.attempt > 0 || claim.lost_leases > 0) return;
      firstAttempt.observe(Math.max(0, Date.now() - madeAtMs(claim.delivery_id)) / 1000);
    },
    record(outcomes) {
      for (const outcome of outcomes) {
        attempts.inc({ result: resultOf(outcome) });
        if (outcome.attempted) attemptDuration.observe(outcome.durationMs / 1000);
      }
    },
  };
}

/** The time in a UUIDv7; that of a delivery is its event's, or that of the request to send it again. */
const madeAtMs = (deliveryId: string): number => Number.parseInt(deliveryId.replace('-', '').slice(0, 12), 16);

function resultOf({ attempted, verdict, responseCode }: Outcome): string {
  if (!attempted) return 'not_made';
  if (verdict === 'success') return 'success';
  return responseCode === null ? 'no_answer' : 'refused';
}
