import { mapDatabaseError } from '@recordbus/database';
import { createDispatcher, type Route } from '@recordbus/http';
import type { HealthCheck, Service } from '@recordbus/http/service';
import type { Logger } from '@recordbus/process/logging';
import type { MetricFamily, Metrics } from '@recordbus/process/metrics';
import type { ApiAudience } from '@recordbus/settings';
import type { ApiReference } from './reference/api-reference.ts';
import type { RequestLog } from './request-log/request-log.ts';
import { healthRoutes } from './routes/health-routes.ts';
import { metricsRoutes } from './routes/metrics-routes.ts';
import { referenceRoutes } from './routes/reference-routes.ts';
import { requestLogRoutes } from './routes/request-log-routes.ts';

interface OwnServiceDeps {
  readonly log: Logger;
  /** The services' health checks. */
  readonly checks: Readonly<Record<string, HealthCheck>>;
  /** The gateway's own metrics. */
  readonly metrics: Metrics;
  readonly requestLog: RequestLog;
  /** Reads all services' metrics. */
  readonly readAll: () => Promise<readonly MetricFamily[]>;
  readonly findReference: ApiReference['find'];
  /** The callers that may read the API's description. */
  readonly audience: () => ApiAudience;
  /** Whether answers are compressed for clients that accept it. */
  readonly compresses: () => boolean;
}

/** The gateway's own routes, declared like any service's. */
export const gatewayRoutes = ({
  log,
  checks,
  requestLog,
  readAll,
  findReference,
  audience,
}: OwnServiceDeps): Route[] => [
  ...healthRoutes(checks, log),
  ...metricsRoutes(readAll),
  ...requestLogRoutes(requestLog),
  ...referenceRoutes({ find: findReference, audience }),
];

/** Creates the gateway's own routes as a service, so that they pass through the same pipeline as all others. */
export function createOwnService(deps: OwnServiceDeps): Service {
  const routes = gatewayRoutes(deps);
  return {
    name: 'gateway',
    routes,
    handle: createDispatcher(routes, { log: deps.log, mapError: mapDatabaseError, compresses: deps.compresses }),
    checks: {},
    metrics: deps.metrics,
    start: async () => {},
    stop: async () => {},
  };
}
