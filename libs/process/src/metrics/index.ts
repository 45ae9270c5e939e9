export { exposition, expositionType } from './exposition.ts';
export { mergeMetrics } from './merge-metrics.ts';
export { createMetrics, type Metrics } from './metrics.ts';
export { createProcessMetrics } from './process-metrics.ts';
export { type MetricFamily, metricFamily, readMetrics } from './read-metrics.ts';
export { requestDuration } from './request-duration.ts';
export { sampledCounter } from './sampled-counter.ts';
export { sampledGauge, sampledGauges } from './sampled-gauge.ts';
