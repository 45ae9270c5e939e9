import { type Aggregator, Gauge } from 'prom-client';
import type { Metrics } from './metrics.ts';

interface SampledGauge {
  readonly name: string;
  readonly help: string;
  /** Asked when the metrics are read. Throws when it can't be told; then the gauge has no value. */
  readonly sample: () => number | Promise<number>;
  /**
   * How the values of several replicas become one: added up, or for what every replica reads at the same place
   * (the database, the bus) the largest.
   */
  readonly replicas?: Extract<Aggregator, 'sum' | 'max'>;
}

/** Adds something whose value is looked up when somebody asks. */
export function sampledGauge({ registry }: Metrics, { name, help, sample, replicas = 'sum' }: SampledGauge): void {
  new Gauge({
    name,
    help,
    aggregator: replicas,
    registers: [registry],
    async collect() {
      try {
        this.set(await sample());
      } catch {
        this.remove();
      }
    },
  });
}
