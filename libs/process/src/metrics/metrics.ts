import { Counter, Histogram, Registry } from 'prom-client';

/** A service's metrics, read with `readMetrics`. Names begin with `recordbus_` and end with the unit. */
export interface Metrics {
  readonly registry: Registry;
  /** Adds a counter; its name ends in `_total`. */
  counter<L extends string>(name: string, help: string, labels?: readonly L[]): Counter<L>;
  /** Adds a histogram for durations, in seconds. */
  duration<L extends string>(name: string, help: string, labels?: readonly L[]): Histogram<L>;
}

/** Upper bounds for the duration buckets, in seconds. */
const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Creates a service's empty set; every value has the service's name as a label. */
export function createMetrics(service: string): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  const registers = [registry];
  return {
    registry,
    counter: (name, help, labels = []) => new Counter({ name, help, labelNames: [...labels], registers }),
    duration: (name, help, labels = []) =>
      new Histogram({ name, help, labelNames: [...labels], buckets: durationBuckets, registers }),
  };
}
