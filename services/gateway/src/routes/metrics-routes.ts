import { ok, otherContent, plainText, type Route, route } from '@recordbus/shared/http';
import { exposition, expositionType, type MetricFamily, metricFamily } from '@recordbus/shared/metrics';
import { z } from 'zod';

/** Where Prometheus asks; `admitScrape` says who may. */
export const metricsRoute = '/api/v1/metrics';

const shown = metricFamily.omit({ isShared: true });

/** What every service measures, for Prometheus and for the admin pages (interface §4.3). */
export const metricsRoutes = (readAll: () => Promise<readonly MetricFamily[]>): Route[] => [
  route({
    method: 'GET',
    path: metricsRoute,
    access: 'public',
    summary: 'The metrics of all services, for Prometheus; with metrics.token set, that is the bearer token',
    answers: {
      200: otherContent('text/plain', 'in the exposition format of Prometheus'),
      401: 'metrics.token is set and this is not it',
      404: 'metrics.enabled is 0',
    },
    handler: async () => plainText(expositionType, exposition(await readAll())),
  }),
  route({
    method: 'GET',
    path: '/_/metrics',
    access: 'admin',
    summary: 'The metrics of all services as JSON, also while metrics.enabled is 0',
    answers: { 200: z.array(shown) },
    handler: async () => ok(z.array(shown).parse(await readAll())),
  }),
];
