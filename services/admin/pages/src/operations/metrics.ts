import type { Metric } from '@recordbus/client';

type Labels = Readonly<Record<string, string>>;

/** The metrics at one time. */
export interface Metrics {
  /** Sums a metric's values that have these labels. Undefined if no replica has the metric. */
  sum(name: string, labels?: Labels): number | undefined;
  /** Returns a metric's values with their labels. */
  all(name: string): readonly { readonly labels: Labels; readonly value: number }[];
}

/** Indexes metrics by name. */
export function readMetrics(families: readonly Metric[]): Metrics {
  const byName = new Map(families.map((family) => [family.name, family.samples]));
  const all = (name: string) => byName.get(name) ?? [];
  return {
    all,
    sum(name, labels = {}) {
      const wanted = Object.entries(labels);
      const found = all(name).filter((sample) => wanted.every(([label, text]) => sample.labels[label] === text));
      return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
    },
  };
}

/** A process in the stack. */
export interface Replica {
  readonly service: string;
  readonly instance: string;
  readonly isUp: boolean;
  readonly startedAtSec: number | undefined;
  readonly memoryBytes: number | undefined;
  /** Its event loop's delay, 99th percentile. */
  readonly lagMs: number | undefined;
  readonly isOnBus: boolean | undefined;
}

/** Returns the processes that the metrics come from. A process that runs all services is `local`. */
export function replicasIn(metrics: Metrics): readonly Replica[] {
  const keyOf = ({ service = '', instance = '' }: Labels): string => `${service} ${instance}`;
  const places = new Map<string, Labels>();
  for (const name of ['recordbus_up', 'process_start_time_seconds'])
    for (const { labels } of metrics.all(name)) places.set(keyOf(labels), labels);
  const readingOf = (name: string, key: string): number | undefined =>
    metrics.all(name).find(({ labels }) => keyOf(labels) === key)?.value;
  return [...places].map(([key, { service = '', instance = '' }]) => {
    const lag = readingOf('nodejs_eventloop_lag_p99_seconds', key);
    const bus = readingOf('recordbus_bus_connected', key);
    return {
      service,
      instance,
      isUp: readingOf('recordbus_up', key) !== 0,
      startedAtSec: readingOf('process_start_time_seconds', key),
      memoryBytes: readingOf('process_resident_memory_bytes', key),
      lagMs: lag === undefined ? undefined : lag * 1000,
      isOnBus: bus === undefined ? undefined : bus === 1,
    };
  });
}

/** Returns warnings about problems that the metrics show. */
export function warningsIn(metrics: Metrics): readonly string[] {
  const warnings: string[] = [];
  const parked = metrics.sum('recordbus_outbox_parked') ?? 0;
  if (parked > 0) warnings.push(`${parked} events cannot be published. See system.outbox.error for the reason.`);
  if ((metrics.sum('recordbus_stream_full') ?? 0) > 0)
    warnings.push('The event stream is full. New events wait until consumers read the oldest ones.');
  const paused = metrics.sum('recordbus_webhooks_paused') ?? 0;
  if (paused > 0)
    warnings.push(
      `${paused} webhook${paused === 1 ? ' is' : 's are'} paused because ${paused === 1 ? 'its receiver keeps' : 'their receivers keep'} failing.`,
    );
  const lost = metrics.sum('recordbus_request_log_lost_total') ?? 0;
  if (lost > 0) warnings.push(`The request log has lost ${lost} requests.`);
  for (const { labels, value } of metrics.all('recordbus_task_failures'))
    if (value > 0) warnings.push(`${labels.service}: failed to ${labels.task} ${value} times in a row.`);
  return warnings;
}
