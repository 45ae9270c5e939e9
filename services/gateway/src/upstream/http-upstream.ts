import type { Bus } from '@recordbus/bus';
import type { Logger } from '@recordbus/process/logging';
import type { ContextSigner } from '@recordbus/request/context';
import { tracingForwards } from './client-span.ts';
import { type Endpoint, Endpoints } from './endpoints.ts';
import { forwardOverHttp } from './forward-over-http.ts';
import { OpenConnections } from './open-connections.ts';
import { askDescription, askMetrics, askReadiness, createAsk } from './own-requests.ts';
import { pollManifest } from './poll-manifest.ts';
import { type SlowExchangeLimit, SlowExchanges } from './slow-exchanges.ts';
import type { ReplicaMetrics, Upstream } from './upstream.ts';

interface HttpUpstreamOptions {
  readonly name: string;
  /** The service's URL; every address that its name resolves to is a replica. */
  readonly url: string;
  readonly contextSigner: ContextSigner;
  /** Carries the notices about changed routes. The next poll covers a missed notice. */
  readonly bus: Pick<Bus, 'onNotice'>;
  readonly log: Logger;
  /** Longest wait for an answer's head, and for each next part, in milliseconds. */
  readonly answerTimeoutMs: number;
  /** Resolves a host name to all its addresses; by default the machine's resolver. */
  readonly resolve?: (hostname: string) => Promise<readonly string[]>;
  /** How many connections slow clients may hold; for tests. */
  readonly slowExchangeLimit?: SlowExchangeLimit;
}

/** How long open connections have to end when the gateway stops, in milliseconds. */
const drainMs = 8000;

/** Creates the upstream for a service that runs in other processes. */
export function httpUpstream(options: HttpUpstreamOptions): Upstream {
  const { name, contextSigner, bus, log, answerTimeoutMs } = options;
  const { host, port } = new URL(options.url);
  const endpoints = new Endpoints({
    name,
    url: new URL(options.url),
    log,
    answerTimeoutMs,
    ...(options.resolve && { resolve: options.resolve }),
    onReconnect: () => manifest.refresh(),
  });
  const slowExchanges = new SlowExchanges(log, options.slowExchangeLimit);
  const open = new OpenConnections();
  const forwardOpen = tracingForwards(
    options.url,
    forwardOverHttp({ name, endpoints, contextSigner, held: open, staysOpen: true }),
  );
  const forward = tracingForwards(
    options.url,
    forwardOverHttp({ name, endpoints, contextSigner, held: slowExchanges, staysOpen: false }),
  );
  const ask = createAsk(endpoints, contextSigner);
  const manifest = pollManifest({ name, log, ask: (path) => ask(path) });
  let endNotices = () => {};

  async function metricsOf(endpoint: Endpoint): Promise<ReplicaMetrics> {
    const instance = `${endpoint.address.includes(':') ? `[${endpoint.address}]` : endpoint.address}:${port}`;
    try {
      return { instance, families: await askMetrics(ask, endpoint) };
    } catch (error) {
      log.debug({ err: error, upstream: name, instance }, "cannot read a replica's metrics");
      return { instance, families: undefined };
    }
  }

  return {
    name,
    async start(onRoutes) {
      await endpoints.start();
      slowExchanges.start();
      endNotices = bus.onNotice('routes', manifest.refresh);
      await manifest.start((declared) => onRoutes({ declared, describe: async () => declared }));
    },
    forward,
    forwardOpen,
    upgrade: (request, response, head, context) => forwardOpen(request, response, context, head),
    drain: () => open.drain(drainMs),
    ready: () => askReadiness(ask, manifest.isKnown),
    async metrics() {
      const replicas = await Promise.all(endpoints.all().map(metricsOf));
      return replicas.length > 0 ? replicas : [{ instance: host, families: undefined }];
    },
    describe: (context) => askDescription(ask, name, context),
    async stop() {
      endNotices();
      manifest.stop();
      await slowExchanges.stop();
      await endpoints.stop();
    },
  };
}
