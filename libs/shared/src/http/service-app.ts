import express, { type Express } from 'express';
import type { ContextSealer } from '../context.ts';
import { contextHeader } from '../context.ts';
import type { Logger } from '../logging.ts';
import { type Metrics, readMetrics } from '../metrics/index.ts';
import type { Service } from '../service.ts';
import { checkReadiness } from './health.ts';
import { describeRoutes, descriptionPath, manifestPath, metricsPath } from './manifest.ts';
import { measureRequests } from './measure-requests.ts';
import { sendError, sendReply } from './respond.ts';

/**
 * The HTTP app of a service that runs alone in its process: health for the orchestrator, the manifest and the metrics
 * for the gateway, and the routes, all but health for requests that carry a sealed context. `processMetrics` is what the
 * process measures beside the service.
 */
export function createServiceApp(
  service: Service,
  sealer: ContextSealer,
  log: Logger,
  processMetrics?: Metrics,
): Express {
  const measure = processMetrics && measureRequests(processMetrics, service.routes);
  const sets = [processMetrics, service.metrics].filter((set) => set !== undefined);
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.get('/healthz', (_request, response) => sendReply(response, { status: 200, body: { data: { status: 'ok' } } }));
  app.get('/readyz', async (_request, response) => {
    const { ready, checks } = await checkReadiness(service.checks, service.dispensable);
    sendReply(response, {
      status: ready ? 200 : 503,
      body: { data: { status: ready ? 'ready' : 'not ready', checks } },
    });
  });
  app.use(async (request, response) => {
    try {
      const context = sealer.open(request.headers[contextHeader]);
      if (request.url === manifestPath)
        sendReply(response, { status: 200, body: { data: describeRoutes(service.routes) } });
      else if (request.url === metricsPath)
        sendReply(response, { status: 200, body: { data: (await Promise.all(sets.map(readMetrics))).flat() } });
      else if (request.url === descriptionPath)
        sendReply(response, { status: 200, body: { data: (await service.describe?.(context.principal)) ?? null } });
      else if (service.handleInner && request.url.startsWith('/internal/'))
        await service.handleInner(request, response, context);
      else {
        measure?.(request, response);
        await service.handle(request, response, context);
      }
    } catch (error) {
      sendError(request, response, error, log, {});
    }
  });
  return app;
}
