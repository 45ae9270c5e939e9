import { mapDatabaseError } from '@recordbus/database';
import { createDispatcher, type Route } from '@recordbus/shared/http';
import type { Logger } from '@recordbus/shared/logging';
import type { MetricFamily, Metrics } from '@recordbus/shared/metrics';
import type { HealthCheck, Service } from '@recordbus/shared/service';
import type { ApiReference } from './reference/api-reference.ts';
import type { RequestLog } from './request-log/request-log.ts';
import { healthRoutes } from './routes/health-routes.ts';
import { metricsRoutes } from './routes/metrics-routes.ts';
import { referenceRoutes } from './routes/reference-routes.ts';
import { requestLogRoutes } from './routes/request-log-routes.ts';

interface OwnServiceDeps {
  readonly log: Logger;
  /** How the services are. */
  readonly checks: Readonly<Record<string, HealthCheck>>;
  /** What the gateway measures itself. */
  readonly metrics: Metrics;
  readonly requestLog: RequestLog;
  /** What all services measure. */
  readonly readAll: () => Promise<readonly MetricFamily[]>;
  readonly findReference: ApiReference['find'];
}

/** The routes that the gateway answers itself, declared like those of any service. */
export const gatewayRoutes = ({ checks, requestLog, readAll, findReference }: OwnServiceDeps): Route[] => [
  ...healthRoutes(checks),
  ...metricsRoutes(readAll),
  ...requestLogRoutes(requestLog),
  ...referenceRoutes({ find: findReference }),
];

/** The gateway as a service among those behind it, so that its own routes take the way of all others. */
export function createOwnService(deps: OwnServiceDeps): Service {
  const routes = gatewayRoutes(deps);
  return {
    name: 'gateway',
    routes,
    handle: createDispatcher(routes, { log: deps.log, mapError: mapDatabaseError }),
    checks: {},
    metrics: deps.metrics,
    start: async () => {},
    stop: async () => {},
  };
}
