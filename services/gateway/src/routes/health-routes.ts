import { checkReadiness, ok, type Route, route } from '@recordbus/shared/http';
import type { HealthCheck } from '@recordbus/shared/service';
import { z } from 'zod';
import manifest from '../../package.json' with { type: 'json' };

/** A gateway is of use without these: it says how they are, and stays in service. */
const dispensable = new Set(['webhooks']);

/**
 * Longest wait for what a service says, in milliseconds: longer than it waits for a dependency that hangs, which may be
 * one that it can do without.
 */
const patienceMs = 3500;

const readiness = z.object({ status: z.string(), checks: z.record(z.string(), z.string()) });

const health = z.object({
  status: z.enum(['ok', 'degraded']),
  version: z.string(),
  services: z.record(z.string(), z.enum(['ok', 'unavailable'])),
});

/** How the deployment is, for orchestrators, load balancers and people (contract §1, Health). */
export const healthRoutes = (checks: Readonly<Record<string, HealthCheck>>): Route[] => [
  route({
    method: 'GET',
    path: '/healthz',
    access: 'public',
    summary: 'The process is alive',
    answers: { 200: z.object({ status: z.string() }) },
    handler: () => ok({ status: 'ok' }),
  }),
  route({
    method: 'GET',
    path: '/readyz',
    access: 'public',
    summary: 'The services that answer requests are there',
    answers: { 200: readiness, 503: readiness },
    async handler() {
      const { ready, checks: results } = await checkReadiness(checks, dispensable, patienceMs);
      const data = { status: ready ? 'ready' : 'not ready', checks: results };
      return { status: ready ? 200 : 503, body: { data } };
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/health',
    access: 'public',
    summary: 'How each service is',
    answers: { 200: health },
    async handler() {
      const { ready, checks: results } = await checkReadiness(checks, new Set(), patienceMs);
      const services = Object.entries(results).map(([name, result]) => [name, result === 'ok' ? 'ok' : 'unavailable']);
      return ok({
        status: ready ? 'ok' : 'degraded',
        version: manifest.version,
        services: { gateway: 'ok', ...Object.fromEntries(services) },
      });
    },
  }),
];
