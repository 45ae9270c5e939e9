import { Gauge } from 'prom-client';
import type { Metrics } from './metrics.ts';

interface SampledGauge {
  readonly name: string;
  readonly help: string;
  /** Called when the metrics are read. When it throws, the gauge has no value. */
  readonly sample: () => number | Promise<number>;
  /** Whether every replica reads it from the same source (the database, the bus): one value, the largest, for all. */
  readonly isShared?: boolean;
}

/** Adds a gauge whose value is looked up when the metrics are read. */
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

interface SampledGauges extends Omit<SampledGauge, 'sample' | 'isShared'> {
  /** The label that distinguishes its values. */
  readonly label: string;
  /** Returns the values by label. */
  readonly sample: () => ReadonlyMap<string, number>;
}

/** Adds a gauge with several values, which are looked up when the metrics are read. */
export function sampledGauges({ registry }: Metrics, { name, help, label, sample }: SampledGauges): void {
  new Gauge({
    name,
    help,
    labelNames: [label],
    registers: [registry],
    collect() {
      this.reset();
      for (const [value, number] of sample()) this.set({ [label]: value }, number);
    },
  });
}
