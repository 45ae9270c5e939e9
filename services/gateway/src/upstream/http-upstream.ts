import { randomUUID } from 'node:crypto';
import type { Bus } from '@recordbus/bus';
import { type ContextSealer, contextHeader, type RequestContext } from '@recordbus/shared/context';
import { unavailable } from '@recordbus/shared/errors';
import { descriptionPath, metricsPath, type Readiness } from '@recordbus/shared/http';
import type { Logger } from '@recordbus/shared/logging';
import { metricFamily } from '@recordbus/shared/metrics';
import { acceptTraceparent } from '@recordbus/shared/telemetry';
import { z } from 'zod';
import { type Endpoint, Endpoints } from './endpoints.ts';
import { forwardOverHttp } from './forward-over-http.ts';
import { pollManifest, routeManifest } from './poll-manifest.ts';
import type { ReplicaMetrics, Upstream } from './upstream.ts';

interface HttpUpstreamOptions {
  readonly name: string;
  /** The URL of the service; every address that its name resolves to is a replica. */
  readonly url: string;
  readonly sealer: ContextSealer;
  /** Carries the notices of changed routes; the next poll makes up for a missed one. */
  readonly bus: Pick<Bus, 'onNotice'>;
  readonly log: Logger;
  /** Longest wait for the head of an answer, and for each next part of it, in milliseconds. */
  readonly answerTimeoutMs: number;
  /** Resolves a host name to all its addresses; by default the machine's resolver. */
  readonly resolve?: (hostname: string) => Promise<readonly string[]>;
}

/** Longest wait for an answer to the gateway's own requests, in milliseconds. */
const ownRequestTimeoutMs = 2000;
/** Longest wait for a service's readiness: it waits that long itself for a dependency that hangs. In milliseconds. */
const readinessTimeoutMs = 3000;

/** A request that the gateway makes for itself. */
interface OwnRequest {
  /** The replica that gets it; by default the least busy one. */
  readonly endpoint?: Endpoint;
  readonly context?: RequestContext;
  readonly timeoutMs?: number;
}

const metricsAnswer = z.object({ data: z.array(metricFamily) });
const descriptionAnswer = z.object({
  data: z
    .object({
      version: z.string(),
      routes: z.array(routeManifest),
      schemas: z.record(z.string(), z.record(z.string(), z.unknown())),
      tags: z.record(z.string(), z.string()),
    })
    .nullable(),
});
const readiness = z.object({ data: z.object({ checks: z.record(z.string(), z.string()) }) });

/** Creates the upstream of a service that runs in other processes. */
export function httpUpstream(options: HttpUpstreamOptions): Upstream {
  const { name, sealer, bus, log, answerTimeoutMs } = options;
  const { host, port } = new URL(options.url);
  const endpoints = new Endpoints({
    name,
    url: new URL(options.url),
    log,
    answerTimeoutMs,
    ...(options.resolve && { resolve: options.resolve }),
    onReconnect: () => manifest.refresh(),
  });

  async function ask(
    path: string,
    { endpoint = endpoints.pick(), context = ownContext(), timeoutMs = ownRequestTimeoutMs }: OwnRequest = {},
  ): Promise<{ status: number; body: unknown }> {
    if (!endpoint) throw new Error('the name does not resolve');
    const { statusCode, body } = await endpoint.pool.request({
      method: 'GET',
      path,
      headers: { [contextHeader]: sealer.seal(context) },
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    });
    return { status: statusCode, body: await body.json() };
  }

  async function metricsOf(endpoint: Endpoint): Promise<ReplicaMetrics> {
    const instance = `${endpoint.address.includes(':') ? `[${endpoint.address}]` : endpoint.address}:${port}`;
    try {
      const { body } = await ask(metricsPath, { endpoint });
      return { instance, families: metricsAnswer.parse(body).data };
    } catch (error) {
      log.debug({ err: error, upstream: name, instance }, 'cannot read the metrics of a replica');
      return { instance, families: undefined };
    }
  }

  const manifest = pollManifest({ name, log, ask: (path) => ask(path) });
  let endNotices = () => {};

  return {
    name,
    async start(onRoutes) {
      await endpoints.start();
      endNotices = bus.onNotice('routes', manifest.refresh);
      await manifest.start(onRoutes);
    },
    forward: forwardOverHttp(name, endpoints, sealer),
    async ready(): Promise<Readiness> {
      try {
        const { status, body } = await ask('/readyz', { timeoutMs: readinessTimeoutMs });
        const { checks } = readiness.parse(body).data;
        if (!manifest.isKnown()) return { ready: false, checks: { ...checks, routes: 'not loaded yet' } };
        return { ready: status === 200, checks };
      } catch (error) {
        return { ready: false, checks: { connection: error instanceof Error ? error.message : String(error) } };
      }
    },
    async metrics() {
      const replicas = await Promise.all(endpoints.all().map(metricsOf));
      return replicas.length > 0 ? replicas : [{ instance: host, families: undefined }];
    },
    async describe(context) {
      try {
        const { body } = await ask(descriptionPath, { context });
        return descriptionAnswer.parse(body).data ?? undefined;
      } catch (error) {
        throw unavailable(`the ${name} service does not describe itself`, error);
      }
    },
    async stop() {
      endNotices();
      manifest.stop();
      await endpoints.stop();
    },
  };
}

/** Creates the context of a request that the gateway makes for itself. */
const ownContext = (): RequestContext => ({
  requestId: randomUUID(),
  traceparent: acceptTraceparent(undefined),
  principal: { type: 'guest', rejectedToken: false },
  clientAddress: '',
});
