import type { IncomingMessage, ServerResponse } from 'node:http';
import { createDispatcher, type Route, rawJson, route } from '@recordbus/http';
import type { Service } from '@recordbus/http/service';
import type { Logger } from '@recordbus/process/logging';
import type { RequestContext } from '@recordbus/request/context';
import { z } from 'zod';

type Handle = (request: IncomingMessage, response: ServerResponse, context: RequestContext) => Promise<void> | void;

/** Declares a route that answers with the context it got, unless its test handles it. */
export function declare(method: Route['method'], path: string, bodyLimitBytes = 1024 * 1024): Route {
  const common = {
    method,
    path,
    access: 'public',
    scope: 'any',
    summary: path,
    answers: { 200: z.unknown() },
    handler,
  } as const;
  return method === 'POST' ? route({ ...common, bodyLimitBytes, body: z.looseObject({}) }) : route(common);
}

const handler = ({ context }: { context: RequestContext }) => rawJson(200, JSON.stringify({ data: { context } }));

/** Creates a test's service: its routes are dispatched unless `handlers` has the path. */
export function testService(
  name: string,
  log: Logger,
  routes: Route[],
  handlers: Record<string, Handle> = {},
): Service {
  const dispatch = createDispatcher(routes, { log, mapError: () => undefined });
  return {
    name,
    routes,
    async handle(request, response, context) {
      const own = handlers[request.url?.split('?')[0] ?? ''];
      await (own ? own(request, response, context) : dispatch(request, response, context));
    },
    checks: {},
    start: async () => {},
    stop: async () => {},
  };
}
