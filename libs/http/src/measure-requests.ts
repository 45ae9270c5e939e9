import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Metrics, requestDuration } from '@recordbus/process/metrics';
import { guarded } from '@recordbus/request/request-scope';
import { splitUrl } from './dispatch.ts';
import type { Route } from './route.ts';
import { createRouter } from './router.ts';

/**
 * Creates a function that measures each request's answer by route. Only for a service alone in its process: in one
 * process with the gateway every request would count twice.
 */
export function measureRequests(
  metrics: Metrics,
  routes: readonly Route[],
): (request: IncomingMessage, response: ServerResponse) => void {
  const duration = requestDuration(metrics);
  const findRoute = createRouter(routes);

  const routeOf = ({ method = 'GET', url = '/' }: IncomingMessage): Route | undefined => {
    try {
      return findRoute(method, splitUrl(url).path).route;
    } catch {
      return undefined;
    }
  };

  return (request, response) => {
    const startedAtMs = performance.now();
    const record = guarded(() => {
      const route = routeOf(request);
      // Connections that stay open for hours would hide the others' durations.
      if (route?.staysOpen && response.statusCode < 300) return;
      const labels = {
        method: request.method ?? 'GET',
        route: route?.paths[0] ?? 'none',
        status: String(response.statusCode),
      };
      duration.observe(labels, (performance.now() - startedAtMs) / 1000);
    });
    response.once('close', record);
  };
}
