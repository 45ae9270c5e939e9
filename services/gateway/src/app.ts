import type { RequestListener } from 'node:http';
import { mapDatabaseError } from '@recordbus/database';
import { type Settings, trustedProxiesOf } from '@recordbus/settings';
import { createDispatcher, type Route } from '@recordbus/shared/http';
import type { Logger } from '@recordbus/shared/logging';
import { createMetrics, type MetricFamily, type Metrics } from '@recordbus/shared/metrics';
import type { HealthCheck, Service } from '@recordbus/shared/service';
import { createTokenVerifier } from '@recordbus/tokens';
import express from 'express';
import manifest from '../package.json' with { type: 'json' };
import type { Accounts } from './accounts/accounts.ts';
import { createFindClient } from './client-address/find-client.ts';
import { corsKeys, createCorsPolicy } from './cors/cors-policy.ts';
import { followSettings } from './follow-settings.ts';
import { gatherMetrics } from './metrics/gather-metrics.ts';
import { admitScrape } from './pipeline/admit-scrape.ts';
import { answerError } from './pipeline/answer-error.ts';
import { authenticate } from './pipeline/authenticate.ts';
import { beginExchange } from './pipeline/begin-exchange.ts';
import { cors } from './pipeline/cors.ts';
import { forward } from './pipeline/forward.ts';
import { limitBody } from './pipeline/limit-body.ts';
import { limitRate } from './pipeline/limit-rate.ts';
import { matchRoute } from './pipeline/match-route.ts';
import { measure } from './pipeline/measure.ts';
import { noteRequest } from './pipeline/note-request.ts';
import { createChooseRule } from './rate-limit/choose-rule.ts';
import { createLimiter } from './rate-limit/limiter.ts';
import type { SharedWindows } from './rate-limit/shared-windows.ts';
import { type ApiReference, createApiReference } from './reference/api-reference.ts';
import { measureRequestLog } from './request-log/measure-request-log.ts';
import type { RequestLog } from './request-log/request-log.ts';
import { healthRoutes } from './routes/health-routes.ts';
import { metricsRoutes } from './routes/metrics-routes.ts';
import { referenceRoutes } from './routes/reference-routes.ts';
import { requestLogRoutes } from './routes/request-log-routes.ts';
import { createRoutingTable } from './routing/routing-table.ts';
import { localUpstream } from './upstream/local-upstream.ts';
import type { Upstream } from './upstream/upstream.ts';

export { type Accounts, createAccounts } from './accounts/accounts.ts';
export { createSharedWindows, type SharedWindows } from './rate-limit/shared-windows.ts';
export { createRequestLog, type RequestLog } from './request-log/request-log.ts';
export { httpUpstream } from './upstream/http-upstream.ts';
export { localUpstream } from './upstream/local-upstream.ts';
export type { Upstream } from './upstream/upstream.ts';

interface GatewayDeps {
  readonly log: Logger;
  /** Raw bytes of the secret that signs tokens. */
  readonly secret: Uint8Array;
  readonly settings: Settings;
  readonly accounts: Accounts;
  /** Where requests are counted. */
  readonly windows: SharedWindows;
  readonly requestLog: RequestLog;
  /** What the process measures beside the gateway. */
  readonly processMetrics: Metrics;
  /** The CIDRs of the proxies before the gateway, where the settings name none. */
  readonly trustedProxies: readonly string[];
  /** The services behind this gateway. */
  readonly upstreams: readonly Upstream[];
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
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
  const {
    log,
    secret,
    settings,
    accounts,
    windows,
    requestLog,
    processMetrics,
    trustedProxies,
    upstreams,
    clock = Date.now,
  } = deps;
  const checks = Object.fromEntries(upstreams.map((upstream) => [upstream.name, checkOf(upstream)]));
  const metrics = createMetrics('gateway');
  measureRequestLog(metrics, requestLog);
  const readAll = (): Promise<readonly MetricFamily[]> => gatherMetrics(processMetrics, all);
  const all: readonly Upstream[] = [
    localUpstream(
      ownService({ log, checks, metrics, requestLog, readAll, findReference: (context) => reference.find(context) }),
    ),
    ...upstreams,
  ];
  const reference = createApiReference(all, manifest.version);
  const table = createRoutingTable(all);
  const findClient = followSettings(settings, ['security.trusted_proxies'], () =>
    createFindClient(trustedProxiesOf(settings, trustedProxies)),
  );
  const corsPolicy = followSettings(settings, corsKeys, () => createCorsPolicy(settings));
  const rateRules = followSettings(settings, ['rate_limit.enabled', 'rate_limit.rules'], () =>
    settings.get('rate_limit.enabled') ? createChooseRule(settings.get('rate_limit.rules')) : undefined,
  );
  const nowMs = () => performance.now();

  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use(
    beginExchange(log, findClient),
    measure(metrics),
    noteRequest(requestLog),
    cors(corsPolicy),
    matchRoute(table),
    admitScrape(settings),
    authenticate(createTokenVerifier(secret, clock), accounts),
    limitRate(rateRules, createLimiter(windows, nowMs)),
    limitBody,
    forward,
    answerError(log),
  );

  return {
    app,
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

interface OwnServiceDeps {
  readonly log: Logger;
  readonly checks: Readonly<Record<string, HealthCheck>>;
  readonly metrics: Metrics;
  readonly requestLog: RequestLog;
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

function ownService(deps: OwnServiceDeps): Service {
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

const checkOf =
  (upstream: Upstream): HealthCheck =>
  async () => {
    const { ready, checks } = await upstream.ready();
    const failing = Object.entries(checks).filter(([, result]) => result !== 'ok');
    if (!ready) throw new Error(failing.map(([name, result]) => `${name}: ${result}`).join('; ') || 'not ready');
  };
