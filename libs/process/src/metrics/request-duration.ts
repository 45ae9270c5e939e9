import type { Histogram } from 'prom-client';
import type { Metrics } from './metrics.ts';

/** Adds the request histogram, with the same name in every process that answers requests. */
export const requestDuration = (metrics: Metrics): Histogram<'method' | 'route' | 'status'> =>
  metrics.duration(
    'recordbus_http_request_duration_seconds',
    'Time from request head to answer end, by route; "none" for requests without a route.',
    ['method', 'route', 'status'],
  );
