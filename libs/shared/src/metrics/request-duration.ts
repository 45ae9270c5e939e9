import type { Histogram } from 'prom-client';
import type { Metrics } from './metrics.ts';

/** Adds the histogram of requests, with the same name in every process that answers requests. */
export const requestDuration = (metrics: Metrics): Histogram<'method' | 'route' | 'status'> =>
  metrics.duration(
    'recordbus_http_request_duration_seconds',
    'Time from the head of a request to the end of its answer, by route; "none" for requests without a route.',
    ['method', 'route', 'status'],
  );
