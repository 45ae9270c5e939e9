import { createMetrics, type Metrics, sampledGauge } from '@recordbus/process/metrics';
import type { MessageType } from './messages/frame.ts';

/** The service's metrics (realtime §6.4). */
export interface RealtimeMetrics {
  readonly metrics: Metrics;
  onSent(type: MessageType): void;
  onResync(reason: string): void;
  onClosed(reason: string): void;
}

interface Gauges {
  readonly connections: () => number;
  readonly subscriptions: () => number;
  /** Stream messages that the slowest group has yet to read. */
  readonly behind: () => number;
}

export function createRealtimeMetrics({ connections, subscriptions, behind }: Gauges): RealtimeMetrics {
  const metrics = createMetrics('realtime');
  sampledGauge(metrics, {
    name: 'recordbus_live_connections',
    help: 'Connections that follow changes.',
    sample: connections,
  });
  sampledGauge(metrics, {
    name: 'recordbus_live_subscriptions',
    help: "These connections' subscriptions.",
    sample: subscriptions,
  });
  sampledGauge(metrics, {
    name: 'recordbus_live_events_behind',
    help: 'Events that the slowest subscription group has yet to read.',
    sample: behind,
  });
  const sent = metrics.counter('recordbus_live_messages_total', 'Messages sent, by type.', ['type']);
  const resyncs = metrics.counter('recordbus_live_resyncs_total', 'Subscriptions whose clients had to read again.', [
    'reason',
  ]);
  const closed = metrics.counter('recordbus_live_closed_total', 'Connections closed, by reason.', ['reason']);
  return {
    metrics,
    onSent: (type) => sent.inc({ type }),
    onResync: (reason) => resyncs.inc({ reason }),
    onClosed: (reason) => closed.inc({ reason }),
  };
}
