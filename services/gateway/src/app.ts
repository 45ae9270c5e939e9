import type { RequestListener } from 'node:http';
import { createMetrics, type MetricFamily, type Metrics } from '@recordbus/shared/metrics';
import type { HealthCheck } from '@recordbus/shared/service';
import manifest from '../package.json' with { type: 'json' };
import { gatherMetrics } from './metrics/gather-metrics.ts';
import { createOwnService } from './own-service.ts';
import { createPipeline, type PipelineDeps } from './pipeline/pipeline.ts';
import { createApiReference } from './reference/api-reference.ts';
import { measureRequestLog } from './request-log/measure-request-log.ts';
import { createRoutingTable } from './routing/routing-table.ts';
import { localUpstream } from './upstream/local-upstream.ts';
import type { Upstream } from './upstream/upstream.ts';

export { type Accounts, createAccounts } from './accounts/accounts.ts';
export { gatewayRoutes } from './own-service.ts';
export { createSharedWindows, type SharedWindows } from './rate-limit/shared-windows.ts';
export { createRequestLog, type RequestLog } from './request-log/request-log.ts';
export { localUpstream } from './upstream/local-upstream.ts';
export type { Upstream } from './upstream/upstream.ts';

/** Longest wait for the gateway's own routes, in milliseconds: whatever they ask has shorter limits of its own. */
const ownAnswerTimeoutMs = 60_000;

interface GatewayDeps extends PipelineDeps {
  /** What the process measures beside the gateway. */
  readonly processMetrics: Metrics;
  /** The services behind this gateway. */
  readonly upstreams: readonly Upstream[];
}

/** The only part that clients talk to. */
export interface Gateway {
  readonly app: RequestListener;
  readonly checks: Readonly<Record<string, HealthCheck>>;
  /** What the gateway measures itself. */
  readonly metrics: Metrics;
  /** Learns the services' routes: all of them that answer now, the others as they come up. */
  start(): Promise<void>;
  /** Lets go of the services; called after the last request was answered. */
  stop(): Promise<void>;
}

/** Makes the gateway: it knows who is calling and whose route it is, and hands the request on. */
export function createGateway(deps: GatewayDeps): Gateway {
  const { log, settings, accounts, windows, requestLog, processMetrics, upstreams } = deps;
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
    findReference: (context) => reference.find(context),
  });
  const all: readonly Upstream[] = [localUpstream(own, { log, answerTimeoutMs: ownAnswerTimeoutMs }), ...upstreams];
  const reference = createApiReference(all, manifest.version);
  const table = createRoutingTable(all);

  return {
    app: createPipeline(deps, { metrics, table }),
    checks,
    metrics,
    async start() {
      await settings.start();
      await accounts.start();
      windows.start();
      requestLog.start();
      await Promise.all(
        all.map((upstream) =>
          upstream.start((routes) => {
            table.setRoutes(upstream, routes);
            reference.setRoutes(upstream, routes);
          }),
        ),
      );
    },
    async stop() {
      await Promise.all(all.map((upstream) => upstream.stop()));
      await requestLog.stop();
      await windows.stop();
      await accounts.stop();
      await settings.stop();
    },
  };
}

const checkOf =
  (upstream: Upstream): HealthCheck =>
  async () => {
    const { ready, checks } = await upstream.ready();
    const failing = Object.entries(checks).filter(([, result]) => result !== 'ok');
    if (!ready) throw new Error(failing.map(([name, result]) => `${name}: ${result}`).join('; ') || 'not ready');
  };
