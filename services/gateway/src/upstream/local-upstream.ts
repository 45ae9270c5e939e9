import type { IncomingMessage, ServerResponse } from 'node:http';
import { malformed, upstreamTimeout } from '@recordbus/errors';
import { checkReadiness, describeRoutes, dispatchUpgrade, type Route, type RouteManifest } from '@recordbus/http';
import type { Service } from '@recordbus/http/service';
import { inSlices } from '@recordbus/limits/time-slice';
import type { Logger } from '@recordbus/process/logging';
import { readMetrics } from '@recordbus/process/metrics';
import type { RequestContext } from '@recordbus/request/context';
import { logFields } from '@recordbus/request/request-scope';
import { AnswerWaits, type Wait } from './answer-waits.ts';
import type { Upstream } from './upstream.ts';

interface LocalUpstreamOptions {
  readonly log: Logger;
  /** Longest wait for an answer's head, and for each next part, in milliseconds. */
  readonly answerTimeoutMs: number;
}

/**
 * Creates the upstream for a service in this process, which gets the same request, response and context objects. The
 * caller starts and stops the service. A service that takes too long is treated as over HTTP: 504 if the answer has not
 * begun, otherwise the connection is cut. The service continues, and the rest of its answer is discarded.
 */
export function localUpstream(service: Service, { log, answerTimeoutMs }: LocalUpstreamOptions): Upstream {
  const { name } = service;
  const waits = new AnswerWaits(answerTimeoutMs);

  const forwardWith = (
    request: IncomingMessage,
    response: ServerResponse,
    context: RequestContext,
    staysOpen: boolean,
  ): Promise<void> =>
    new Promise((resolve, reject) => {
      const end = (): void => {
        if (!response.headersSent && !response.destroyed) {
          // The service's late answer must not end the process.
          response.on('error', () => {});
          reject(upstreamTimeout(`the ${name} service took too long`));
          return;
        }
        if (!response.writableEnded) response.destroy();
        resolve();
      };
      const wait: Wait = { request, response, staysOpen, end, seenBytes: 0, idleTicks: 0, index: -1 };
      waits.add(wait);
      service.handle(request, response, context).then(
        () => {
          if (response.writableEnded) waits.remove(wait);
          resolve();
        },
        (error: unknown) => {
          if (waits.remove(wait)) reject(error);
          else if (!isLateAnswer(error))
            log.error({ ...logFields(context), err: error, upstream: name }, 'the request failed after its timeout');
        },
      );
    });

  return {
    name,
    async start(onRoutes) {
      waits.start();
      const announce = () => {
        const { routes } = service;
        onRoutes({ declared: routes, describe: () => describeInSlices(routes) });
      };
      announce();
      service.onRoutesChange?.(announce);
    },
    forward: (request, response, context) => forwardWith(request, response, context, false),
    forwardOpen: (request, response, context) => forwardWith(request, response, context, true),
    async upgrade(request, response, head, context) {
      if (!service.upgrade) throw malformed(`the ${name} service opens no WebSockets`);
      const { socket } = request;
      const sentBefore = socket.bytesWritten;
      const taken = dispatchUpgrade(service.upgrade, request, response, head, context);
      const late = Promise.withResolvers<never>();
      const timer = setTimeout(() => {
        if (socket.bytesWritten === sentBefore) late.reject(upstreamTimeout(`the ${name} service took too long`));
      }, answerTimeoutMs);
      await Promise.race([taken, late.promise]).finally(() => clearTimeout(timer));
    },
    ready: () => checkReadiness(service.checks, service.dispensable),
    metrics: async () => [{ instance: undefined, families: service.metrics ? await readMetrics(service.metrics) : [] }],
    describe: async ({ principal }) => service.describe?.(principal),
    stop: async () => waits.stop(),
  };
}

/** A service's descriptions take tens of milliseconds. */
async function describeInSlices(routes: readonly Route[]): Promise<readonly RouteManifest[]> {
  const described: RouteManifest[] = [];
  for await (const route of inSlices(routes)) described.push(...describeRoutes([route]));
  return described;
}

/** Whether a handler began an answer after another one had begun. */
const isLateAnswer = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_HTTP_HEADERS_SENT';
