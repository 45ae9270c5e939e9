import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Metrics, requestDuration } from '../metrics/index.ts';
import { splitUrl } from './dispatch.ts';
import type { Route } from './route.ts';
import { createRouter } from './router.ts';

/**
 * Creates a function that measures the answer of each request by route. Only for a service alone in its process: in one
 * process with the gateway every request would count twice.
 */
export function measureRequests(
  metrics: Metrics,
  routes: readonly Route[],
): (request: IncomingMessage, response: ServerResponse) => void {
  const duration = requestDuration(metrics);
  const findRoute = createRouter(routes);

  const routeOf = ({ method = 'GET', url = '/' }: IncomingMessage): string => {
    try {
      return findRoute(method, splitUrl(url).path).route.paths[0] ?? 'none';
    } catch {
      return 'none';
    }
  };

  return (request, response) => {
    const startedAtMs = performance.now();
    response.once('close', () => {
      const labels = { method: request.method ?? 'GET', route: routeOf(request), status: String(response.statusCode) };
      duration.observe(labels, (performance.now() - startedAtMs) / 1000);
    });
  };
}
