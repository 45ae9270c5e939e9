import { z } from 'zod';
import type { Metrics } from './metrics.ts';

/** A metric with its values, as plain data that a service sends to the gateway. */
export const metricFamily = z.object({
  name: z.string(),
  help: z.string(),
  type: z.enum(['counter', 'gauge', 'histogram', 'summary']),
  /** Whether every replica reads it from the same source, so that there is one value for all. */
  isShared: z.boolean(),
  samples: z.array(
    z.object({
      /** The family's name, except for a histogram's parts. */
      name: z.string(),
      labels: z.record(z.string(), z.string()),
      value: z.number(),
    }),
  ),
});

export type MetricFamily = z.output<typeof metricFamily>;

/** Reads all metrics' current values. */
export async function readMetrics({ registry }: Metrics): Promise<MetricFamily[]> {
  const families = await registry.getMetricsAsJSON();
  return families.map(({ name, help, type, aggregator, values }) => ({
    name,
    help,
    type: metricFamily.shape.type.parse(String(type)),
    isShared: aggregator === 'max',
    samples: values.map((sample) => ({
      name: 'metricName' in sample && typeof sample.metricName === 'string' ? sample.metricName : name,
      labels: toTexts(sample.labels),
      value: sample.value,
    })),
  }));
}

const toTexts = (labels: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).map(([label, value]) => [label, String(value)]));
