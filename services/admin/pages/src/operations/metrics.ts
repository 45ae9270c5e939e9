import type { Metric } from '@recordbus/client';

type Labels = Readonly<Record<string, string>>;

/** The metrics of one moment. */
export interface Metrics {
  /** The sum of the values of a metric, those with these labels alone; undefined if no replica has it. */
  sum(name: string, labels?: Labels): number | undefined;
  /** The values of a metric with their labels. */
  all(name: string): readonly { readonly labels: Labels; readonly value: number }[];
}

/** Reads metrics by their names. */
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

/** A process of the stack. */
export interface Replica {
  readonly service: string;
  readonly instance: string;
  readonly isUp: boolean;
  readonly startedAtSec: number | undefined;
  readonly memoryBytes: number | undefined;
  /** The delay of its event loop, 99th percentile. */
  readonly lagMs: number | undefined;
  readonly isOnBus: boolean | undefined;
}

/** Returns the processes that the metrics come from. One process may run all services: it is `local`. */
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

/** Sentences about what is wrong, from the metrics. */
export function worriesIn(metrics: Metrics): readonly string[] {
  const worries: string[] = [];
  const parked = metrics.sum('recordbus_outbox_parked') ?? 0;
  if (parked > 0) worries.push(`${parked} events cannot be published; system.outbox.error says why.`);
  if ((metrics.sum('recordbus_stream_full') ?? 0) > 0)
    worries.push('The event stream is full: events wait until a consumer has read the oldest ones.');
  const paused = metrics.sum('recordbus_webhooks_paused') ?? 0;
  if (paused > 0)
    worries.push(`${paused} webhook${paused === 1 ? ' is' : 's are'} paused because the receiver keeps failing.`);
  const lost = metrics.sum('recordbus_request_log_lost_total') ?? 0;
  if (lost > 0) worries.push(`The request log has lost ${lost} requests.`);
  for (const { labels, value } of metrics.all('recordbus_task_failures'))
    if (value > 0) worries.push(`${labels.service}: cannot ${labels.task}, ${value} times in a row.`);
  return worries;
}
