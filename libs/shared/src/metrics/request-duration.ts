import type { Histogram } from 'prom-client';
import type { Metrics } from './metrics.ts';

/** Adds the durations of requests, by the same name wherever requests are answered. */
export const requestDuration = (metrics: Metrics): Histogram<'method' | 'route' | 'status'> =>
  metrics.duration(
    'recordbus_http_request_duration_seconds',
    'Time from the head of a request to the end of its answer, by route; "none" is what belongs to no route.',
    ['method', 'route', 'status'],
  );
