import { checkReadiness, createReadinessLog, ok, type Route, route, withoutReasons, works } from '@recordbus/http';
import type { HealthCheck } from '@recordbus/http/service';
import { checkTasks } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import { productVersion } from '@recordbus/process/product-version';
import { isAdmin } from '@recordbus/request/key-rights';
import { z } from 'zod';

/** The gateway stays ready without these services; it only reports them. */
const dispensable = new Set(['webhooks', 'realtime']);

/**
 * Longest wait for a service's readiness, in milliseconds. It is longer than the service waits for a dependency that
 * hangs, since the service may be ready without it.
 */
const checkTimeoutMs = 3500;

const readiness = z.object({ status: z.string(), checks: z.record(z.string(), z.string()) });

const health = z.object({
  status: z.enum(['ok', 'degraded']),
  version: z.string(),
  services: z.record(z.string(), z.enum(['ok', 'unavailable'])),
});

/**
 * The routes about the deployment's health (http §11). Admins get reasons. `checks` are the services'; the background
 * tasks of services in this process are in the gateway's own check.
 */
export function healthRoutes(checks: Readonly<Record<string, HealthCheck>>, log: Logger): Route[] {
  const logReadiness = createReadinessLog(log);
  return [
    route({
      method: 'GET',
      path: '/healthz',
      access: 'public',
      scope: 'any',
      summary: 'Report whether the process is alive',
      answers: { 200: z.object({ status: z.string() }) },
      handler: () => ok({ status: 'ok' }),
    }),
    route({
      method: 'GET',
      path: '/readyz',
      access: 'public',
      scope: 'any',
      summary: 'Report whether the services are ready; admins get the reasons',
      answers: { 200: readiness, 503: readiness },
      async handler({ context }) {
        const readiness = await checkReadiness({ ...checks, background: checkTasks }, dispensable, checkTimeoutMs);
        logReadiness(readiness);
        const { ready, checks: results } = isAdmin(context.principal) ? readiness : withoutReasons(readiness);
        const data = { status: ready ? 'ready' : 'not ready', checks: results };
        return { status: ready ? 200 : 503, body: { data } };
      },
    }),
    route({
      method: 'GET',
      path: '/api/v1/health',
      access: 'public',
      scope: 'any',
      summary: "Get each service's health",
      answers: { 200: health },
      async handler() {
        const { ready, checks: results } = await checkReadiness(checks, new Set(), checkTimeoutMs);
        const services = Object.entries(results).map(([name, result]) => [name, works(result) ? 'ok' : 'unavailable']);
        return ok({
          status: ready ? 'ok' : 'degraded',
          version: productVersion,
          services: { gateway: 'ok', ...Object.fromEntries(services) },
        });
      },
    }),
  ];
}
