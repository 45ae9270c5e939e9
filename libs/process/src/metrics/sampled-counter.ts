import { Counter } from 'prom-client';
import type { Metrics } from './metrics.ts';

interface SampledCounter {
  /** Ends in `_total`. */
  readonly name: string;
  readonly help: string;
  /** Called when the metrics are read; its result never decreases. */
  readonly sample: () => number;
}

/** Adds a counter whose value is kept elsewhere. */
export function sampledCounter({ registry }: Metrics, { name, help, sample }: SampledCounter): void {
  new Counter({
    name,
    help,
    registers: [registry],
    collect() {
      this.reset();
      this.inc(sample());
    },
  });
}
