import { randomUUID } from 'node:crypto';
import { messageOf, unavailable } from '@recordbus/errors';
import { descriptionPath, metricsPath, type Readiness, type ServiceDescription } from '@recordbus/http';
import { type MetricFamily, metricFamily } from '@recordbus/process/metrics';
import { acceptTraceparent } from '@recordbus/process/telemetry';
import { type ContextSigner, contextHeader, type RequestContext } from '@recordbus/request/context';
import { z } from 'zod';
import type { Endpoint, Endpoints } from './endpoints.ts';
import { routeManifest } from './poll-manifest.ts';

/** Longest wait for an answer to the gateway's own requests, in milliseconds. */
const ownRequestTimeoutMs = 2000;
/** Longest wait for a service's readiness, in milliseconds. The service itself may wait almost as long for a dependency. */
const readinessTimeoutMs = 3000;

/** A request that the gateway makes for itself. */
interface OwnRequest {
  /** The replica that gets it; by default the least busy one. */
  readonly endpoint?: Endpoint;
  readonly context?: RequestContext;
  readonly timeoutMs?: number;
}

/** GETs a service's path for the gateway itself. Throws when no replica answers in time. */
export type Ask = (path: string, request?: OwnRequest) => Promise<{ readonly status: number; readonly body: unknown }>;

/** Creates the function that asks a service's replicas. */
export const createAsk =
  (endpoints: Pick<Endpoints, 'pick'>, contextSigner: ContextSigner): Ask =>
  async (path, { endpoint = endpoints.pick(), context = ownContext(), timeoutMs = ownRequestTimeoutMs } = {}) => {
    if (!endpoint) throw new Error('the name does not resolve');
    const method = 'GET';
    const { statusCode, body } = await endpoint.pool.request({
      method,
      path,
      headers: { [contextHeader]: contextSigner.sign(context, { method, url: path }) },
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    });
    return { status: statusCode, body: await body.json() };
  };

/** Creates the context for a request that the gateway makes for itself. */
const ownContext = (): RequestContext => ({
  requestId: randomUUID(),
  traceparent: acceptTraceparent(undefined),
  principal: { type: 'guest', rejectedToken: false },
  clientAddress: '',
});

const readiness = z.object({ data: z.object({ checks: z.record(z.string(), z.string()) }) });

/** Asks a service whether it is ready. It is not ready while its routes are unknown. Never throws. */
export async function askReadiness(ask: Ask, hasRoutes: () => boolean): Promise<Readiness> {
  try {
    const { status, body } = await ask('/readyz', { timeoutMs: readinessTimeoutMs });
    const { checks } = readiness.parse(body).data;
    if (!hasRoutes()) return { ready: false, checks: { ...checks, routes: 'not loaded yet' } };
    return { ready: status === 200, checks };
  } catch (error) {
    return { ready: false, checks: { connection: messageOf(error) } };
  }
}

const metricsAnswer = z.object({ data: z.array(metricFamily) });

/** Asks a replica for its metrics. */
export async function askMetrics(ask: Ask, endpoint: Endpoint): Promise<readonly MetricFamily[]> {
  const { body } = await ask(metricsPath, { endpoint });
  return metricsAnswer.parse(body).data;
}

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

/** Asks a service what it serves to the caller in `context`. Throws 503 when it does not answer. */
export async function askDescription(
  ask: Ask,
  name: string,
  context: RequestContext,
): Promise<ServiceDescription | undefined> {
  try {
    const { body } = await ask(descriptionPath, { context });
    return descriptionAnswer.parse(body).data ?? undefined;
  } catch (error) {
    throw unavailable(`the ${name} service does not describe itself`, error);
  }
}
