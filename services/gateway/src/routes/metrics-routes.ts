import { ok, otherContent, plainText, type Route, route } from '@recordbus/http';
import { exposition, expositionType, type MetricFamily, metricFamily } from '@recordbus/process/metrics';
import { z } from 'zod';
import { scrapePath } from '../metrics/scrape-path.ts';

const shown = metricFamily.omit({ isShared: true });

/** All services' metrics, for Prometheus and for admins (operation §2.1, §2.2). */
export const metricsRoutes = (readAll: () => Promise<readonly MetricFamily[]>): Route[] => [
  route({
    method: 'GET',
    path: scrapePath,
    access: 'public',
    scope: 'metrics:read',
    summary: "Get all services' metrics for Prometheus; if metrics.token is set, it is the bearer token",
    answers: {
      200: otherContent('text/plain', "in Prometheus's exposition format"),
      401: 'metrics.token is set and the bearer token differs',
      404: 'metrics.enabled is 0',
    },
    handler: async () => plainText(expositionType, exposition(await readAll())),
  }),
  route({
    method: 'GET',
    path: '/_/metrics',
    access: 'admin',
    scope: 'metrics:read',
    summary: "Get all services' metrics as JSON, even while metrics.enabled is 0",
    answers: { 200: z.array(shown) },
    handler: async () => ok(z.array(shown).parse(await readAll())),
  }),
];
