export { createMetrics, type Metrics } from './metrics.ts';
export { exposition, type MetricFamily, readMetrics } from './read-metrics.ts';
export { sampledGauge } from './sampled-gauge.ts';
