import { Gauge } from 'prom-client';
import type { Metrics } from './metrics.ts';

interface SampledGauge {
  readonly name: string;
  readonly help: string;
  /** Asked when the metrics are read. Throws when it can't be told; then the gauge has no value. */
  readonly sample: () => number | Promise<number>;
  /** Every replica reads it at the same place (the database, the bus): one value, the largest, for all of them. */
  readonly isShared?: boolean;
}

/** Adds something whose value is looked up when somebody asks. */
export function sampledGauge({ registry }: Metrics, { name, help, sample, isShared = false }: SampledGauge): void {
  new Gauge({
    name,
    help,
    aggregator: isShared ? 'max' : 'sum',
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
