import { Counter } from 'prom-client';
import type { Metrics } from './metrics.ts';

interface SampledCounter {
  /** Ends in `_total`. */
  readonly name: string;
  readonly help: string;
  /** Asked when the metrics are read; what it gives only grows. */
  readonly sample: () => number;
}

/** Adds something that only grows and is counted elsewhere. */
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
