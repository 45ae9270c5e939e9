import { once } from 'node:events';
import {
  Agent,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
  type ServerResponse,
} from 'node:http';
import { type Route, route } from '@recordbus/http';
import type { Service } from '@recordbus/http/service';
import { z } from 'zod';
import { declare, testService } from './test-service.ts';
import { quiet } from './topologies.ts';

/** A service whose answers stay open, and the answers that are open. */
export interface OpenService {
  readonly service: Service;
  readonly open: Set<ServerResponse>;
  /** Lets the routes `late` answer. */
  readonly gate: PromiseWithResolvers<void>;
  /** Cuts connections, those that open later too, so that the servers can stop. */
  [Symbol.dispose](): void;
}

const streamHeaders = { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' };

/** Creates the service; each test file has its own. `onOpen` gets each answer once its head is sent. */
export function openService(onOpen: (response: ServerResponse) => void = () => {}): OpenService {
  const open = new Set<ServerResponse>();
  const gate = Promise.withResolvers<void>();
  let isCut = false;
  const holdOpen = (response: ServerResponse): void => {
    if (isCut) return void response.destroy();
    open.add(response);
    response.once('close', () => open.delete(response));
    onOpen(response);
  };
  const live = (method: Route['method'], path: string, before: () => Promise<void> = async () => {}): Route =>
    route({
      method,
      path,
      access: 'public',
      scope: 'any',
      action: 'subscribe',
      staysOpen: true,
      summary: path,
      answers: { 200: z.unknown() },
      async handler() {
        await before();
        return { status: 200, headers: streamHeaders, holdOpen };
      },
    });
  const routes = [
    live('GET', '/api/v1/live'),
    live('POST', '/api/v1/live'),
    live('GET', '/api/v1/late', () => gate.promise),
    live('GET', '/api/v1/fails', async () => {
      throw new Error('a defect');
    }),
    declare('GET', '/api/v1/plain'),
    declare('GET', '/api/v1/stalls'),
  ];
  const service = testService('records', quiet, routes, {
    '/api/v1/stalls': () => gate.promise,
  });
  const cutAll = (): void => {
    isCut = true;
    gate.resolve();
    for (const response of open) response.destroy();
  };
  return { service, open, gate, [Symbol.dispose]: cutAll };
}

/** Sends a request on a separate connection and returns its answer once the head has arrived. */
export async function openStream(url: string, options: RequestOptions = {}): Promise<IncomingMessage> {
  const request = httpRequest(url, { agent: new Agent({ keepAlive: true }), ...options }).end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response;
}

/** Returns a stream's next text. */
export async function nextText(response: IncomingMessage): Promise<string> {
  const next = once(response, 'data') as Promise<[Buffer]>;
  response.resume();
  const [chunk] = await next;
  response.pause();
  return chunk.toString();
}

/** Returns the one answer that is open. */
export function theOnly<T>(open: Set<T>): T {
  const [first, ...others] = open;
  if (first === undefined || others.length > 0) throw new Error(`${open.size} are open`);
  return first;
}
