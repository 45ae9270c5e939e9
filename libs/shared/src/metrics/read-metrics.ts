import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue } from 'prom-client';
import type { Metrics } from './metrics.ts';

/** A metric with its values, as plain data that can cross from a service to the gateway. */
export type MetricFamily = MetricObjectWithValues<MetricValue<string>>;

/** Everything that a service measures, as it is now: the registry's own values would go on to change. */
export const readMetrics = async ({ registry }: Metrics): Promise<MetricFamily[]> =>
  structuredClone(await registry.getMetricsAsJSON());

/** The families of several services, or of several replicas of one, as one text for Prometheus. */
export async function exposition(
  ofServices: readonly (readonly MetricFamily[])[],
): Promise<{ contentType: string; text: string }> {
  const merged = AggregatorRegistry.aggregate(ofServices.map((families) => [...families]));
  return { contentType: merged.contentType, text: await merged.metrics() };
}
