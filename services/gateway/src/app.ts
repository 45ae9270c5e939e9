import type { RequestListener } from 'node:http';
import type { Bus } from '@recordbus/bus';
import type { Database } from '@recordbus/database';
import type { HealthCheck } from '@recordbus/http/service';
import { createMetrics, type MetricFamily, type Metrics } from '@recordbus/process/metrics';
import { productVersion } from '@recordbus/process/product-version';
import { gatherMetrics } from './metrics/gather-metrics.ts';
import { createOwnService } from './own-service.ts';
import { createPipeline, type PipelineDeps } from './pipeline/pipeline.ts';
import type { CatalogSource } from './pocketbase/catalog-copy.ts';
import { serveClients } from './pocketbase/serve-clients.ts';
import { createApiReference } from './reference/api-reference.ts';
import { measureRequestLog } from './request-log/measure-request-log.ts';
import { createRoutingTable } from './routing/routing-table.ts';
import { localUpstream } from './upstream/local-upstream.ts';
import type { Upstream } from './upstream/upstream.ts';

export { createServiceKeys, type ServiceKeys } from './keys/service-keys.ts';
export { gatewayRoutes } from './own-service.ts';
export { useTicketsOf } from './pipeline/use-ticket.ts';
export { ownCatalogSource, sharedCatalogSource } from './pocketbase/catalog-copy.ts';
export { createSharedWindows, type SharedWindows } from './rate-limit/shared-windows.ts';
export { createRecentWrites, type RecentWrites } from './recent-writes/recent-writes.ts';
export { createRequestLog, type RequestLog } from './request-log/request-log.ts';
export { createSessionUse, type SessionUse } from './session-use/session-use.ts';
export { localUpstream } from './upstream/local-upstream.ts';
export type { Upstream } from './upstream/upstream.ts';

/** Longest wait for the gateway's own routes, in milliseconds. What they call has shorter timeouts. */
const ownAnswerTimeoutMs = 60_000;

interface GatewayDeps extends PipelineDeps {
  /** For PocketBase's clients: the collections, the database that remembers their streams, and the bus to other gateways. */
  readonly collections: CatalogSource;
  readonly database: Pick<Database, 'query'>;
  readonly bus: Pick<Bus, 'ask' | 'answerAt'>;
  /** The process's metrics, apart from the gateway's own. */
  readonly processMetrics: Metrics;
  /** The services behind this gateway. */
  readonly upstreams: readonly Upstream[];
}

/** The service that clients connect to. */
export interface Gateway {
  readonly app: RequestListener;
  readonly checks: Readonly<Record<string, HealthCheck>>;
  /** The gateway's own metrics. */
  readonly metrics: Metrics;
  /** Loads the routes from services that answer now; the others' follow when they start. */
  start(): Promise<void>;
  /**
   * Ends the connections that stay open, except those to services in this process, which end them (`Service.drain`).
   */
  drain(): Promise<void>;
  /** Disconnects from the services; call it after the last request was answered. */
  stop(): Promise<void>;
}

/** Creates the gateway: it authenticates the caller, finds the route's service and forwards the request. */
export function createGateway(deps: GatewayDeps): Gateway {
  const { log, settings, keys, sessionUse, windows, recentWrites, requestLog, processMetrics, upstreams } = deps;
  const checks = Object.fromEntries(upstreams.map((upstream) => [upstream.name, checkOf(upstream)]));
  const metrics = createMetrics('gateway');
  measureRequestLog(metrics, requestLog);
  const readAll = (): Promise<readonly MetricFamily[]> => gatherMetrics(processMetrics, all);
  const own = createOwnService({
    log,
    checks,
    metrics,
    requestLog,
    readAll,
    findReference: (context, version) => reference.find(context, version),
    audience: () => settings.get('openapi.audience'),
    compresses: () => settings.get('http.compression'),
  });
  const all: readonly Upstream[] = [localUpstream(own, { log, answerTimeoutMs: ownAnswerTimeoutMs }), ...upstreams];
  const reference = createApiReference(all, productVersion);
  const table = createRoutingTable(all);
  const clients = serveClients(createPipeline(deps, { metrics, table }), deps);

  return {
    app: clients.app,
    checks,
    metrics,
    async start() {
      keys.start();
      sessionUse.start();
      windows.start();
      recentWrites?.start();
      requestLog.start();
      await Promise.all(
        all.map((upstream) =>
          upstream.start((routes) => {
            table.setRoutes(upstream, routes.declared);
            reference.setRoutes(upstream, routes);
          }),
        ),
      );
    },
    async drain() {
      clients.drain();
      await Promise.all(all.map((upstream) => upstream.drain?.()));
    },
    async stop() {
      await Promise.all(all.map((upstream) => upstream.stop()));
      await clients.stop();
      await requestLog.stop();
      recentWrites?.stop();
      await windows.stop();
      await sessionUse.stop();
      await keys.stop();
    },
  };
}

const checkOf =
  (upstream: Upstream): HealthCheck =>
  async () => {
    const { ready, checks } = await upstream.ready();
    const failing = Object.entries(checks).filter(([, result]) => result !== 'ok');
    const reasons = failing.map(([name, result]) => `${name}: ${result}`).join('; ');
    if (!ready) throw new Error(reasons || 'not ready');
    return reasons || undefined;
  };
