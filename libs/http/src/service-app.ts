import type { IncomingMessage, ServerResponse } from 'node:http';
import { malformed } from '@recordbus/errors';
import { checkTasks } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import { type Metrics, readMetrics } from '@recordbus/process/metrics';
import type { ContextSigner, RequestContext } from '@recordbus/request/context';
import { contextHeader } from '@recordbus/request/context';
import express, { type Express } from 'express';
import { checkReadiness, createReadinessLog, withoutReasons } from './health.ts';
import { describeRoutes, descriptionPath, manifestPath, metricsPath } from './manifest.ts';
import { measureRequests } from './measure-requests.ts';
import { sendError, sendReply } from './respond.ts';
import type { Service } from './service.ts';
import { dispatchUpgrade, upgradeHead } from './upgrades.ts';

/**
 * Creates the HTTP app of a service that runs alone in its process: health for the orchestrator, manifest and metrics
 * for the gateway, and the routes. All except health require a signed context; without one, health is one word for each
 * check. `processMetrics` are the metrics of the process, in addition to the service's own.
 */
export function createServiceApp(
  service: Service,
  contextSigner: ContextSigner,
  log: Logger,
  processMetrics?: Metrics,
): Express {
  const measure = processMetrics && measureRequests(processMetrics, service.routes);
  const sets = [processMetrics, service.metrics].filter((set) => set !== undefined);
  const contextOf = (request: IncomingMessage): RequestContext =>
    contextSigner.verify(request.headers[contextHeader], request);
  const isFromGateway = (request: IncomingMessage): boolean => {
    try {
      return Boolean(contextOf(request));
    } catch {
      return false;
    }
  };
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.get('/healthz', (_request, response) => sendReply(response, { status: 200, body: { data: { status: 'ok' } } }));
  const logReadiness = createReadinessLog(log);
  const checks = { ...service.checks, background: checkTasks };
  app.get('/readyz', async (request, response) => {
    const readiness = await checkReadiness(checks, service.dispensable);
    logReadiness(readiness);
    const { ready, checks: results } = isFromGateway(request) ? readiness : withoutReasons(readiness);
    sendReply(response, {
      status: ready ? 200 : 503,
      body: { data: { status: ready ? 'ready' : 'not ready', checks: results } },
    });
  });
  app.use(async (request, response) => {
    try {
      const context = contextOf(request);
      if (request.url === manifestPath)
        sendReply(response, { status: 200, body: { data: describeRoutes(service.routes) } });
      else if (request.url === metricsPath)
        sendReply(response, { status: 200, body: { data: (await Promise.all(sets.map(readMetrics))).flat() } });
      else if (request.url === descriptionPath)
        sendReply(response, { status: 200, body: { data: (await service.describe?.(context.principal)) ?? null } });
      else if (service.handleInternal && request.url.startsWith('/internal/'))
        await service.handleInternal(request, response, context);
      else {
        measure?.(request, response);
        const head = upgradeHead(request);
        if (head === undefined) await service.handle(request, response, context);
        else await takeOver(service, request, response, head, context);
      }
    } catch (error) {
      sendError(request, response, error, log, {});
    }
  });
  return app;
}

function takeOver(
  { name, upgrade }: Service,
  request: IncomingMessage,
  response: ServerResponse,
  head: Buffer,
  context: RequestContext,
): Promise<void> {
  if (!upgrade) throw malformed(`the ${name} service opens no WebSockets`);
  return dispatchUpgrade(upgrade, request, response, head, context);
}
