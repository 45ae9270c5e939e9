import { once } from 'node:events';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { forbidden } from '@recordbus/errors';
import { rawJson, route } from '@recordbus/http';
import type { Service } from '@recordbus/http/service';
import { WebSocket, WebSocketServer } from 'ws';
import { z } from 'zod';
import { declare, testService } from './test-service.ts';
import { quiet } from './topologies.ts';

/** A service with WebSockets that send every message back, and the open ones. */
export interface WebSocketService {
  readonly service: Service;
  readonly open: Set<WebSocket>;
  /** The last request's query and caller. */
  readonly seen: { url: string; principal: string };
  /** Cuts connections, those that open later too, so that the servers can stop. */
  [Symbol.dispose](): void;
}

/** Creates the service. The path decides: `/api/v1/live` opens, `/api/v1/closed` refuses. */
export function webSocketService(): WebSocketService {
  const open = new Set<WebSocket>();
  const seen = { url: '', principal: '' };
  const server = new WebSocketServer({ noServer: true, clientTracking: false, perMessageDeflate: false });
  const gate = Promise.withResolvers<void>();
  let isCut = false;
  const live = (path: string, access: 'public' | 'admin' = 'public') =>
    route({
      method: 'GET',
      path,
      access,
      scope: 'any',
      action: 'subscribe',
      staysOpen: true,
      summary: path,
      answers: { 200: z.unknown() },
      handler: () => rawJson(200, '{"data":"a stream"}'),
    });
  const routes = [
    ...['live', 'closed', 'fails', 'hangs'].map((name) => live(`/api/v1/${name}`)),
    live('/api/v1/admins', 'admin'),
    declare('GET', '/api/v1/plain'),
    declare('POST', '/api/v1/plain'),
  ];
  const service: Service = {
    ...testService('records', quiet, routes),
    async upgrade(request, socket, head, { principal }) {
      seen.url = request.url ?? '';
      seen.principal = principal.type;
      if (request.url === '/api/v1/closed') throw forbidden('not you');
      if (request.url === '/api/v1/fails') throw new Error('the defect with its password');
      if (request.url === '/api/v1/hangs') await gate.promise;
      if (isCut) return void socket.destroy();
      server.handleUpgrade(request, socket, head, (webSocket) => {
        open.add(webSocket);
        webSocket.on('error', () => {});
        webSocket.on('close', () => open.delete(webSocket));
        webSocket.on('message', (data, isBinary) => webSocket.send(data, { binary: isBinary }));
      });
    },
  };
  const cutAll = (): void => {
    isCut = true;
    gate.resolve();
    for (const webSocket of open) webSocket.terminate();
  };
  return { service, open, seen, [Symbol.dispose]: cutAll };
}

/** Opens a WebSocket. */
export async function openWebSocket(url: string, headers: Record<string, string> = {}): Promise<WebSocket> {
  const webSocket = new WebSocket(url.replace(/^http/, 'ws'), { headers, perMessageDeflate: false });
  await once(webSocket, 'open');
  return webSocket;
}

/** Returns the next message. */
export async function nextMessage(webSocket: WebSocket): Promise<string> {
  const [data] = await once(webSocket, 'message');
  return String(data);
}

/** The head of a valid WebSocket request. */
export const handshake = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA==',
};

/** Sends a request for a WebSocket that is not accepted, and returns the refusal. */
export async function refusalOfWebSocket(
  url: string,
  headers: Record<string, string> = {},
  { method = 'GET', body = '' } = {},
): Promise<{ readonly status: number | undefined; readonly code: unknown; readonly response: IncomingMessage }> {
  const request: ClientRequest = httpRequest(url, { method, headers: { ...handshake, ...headers } });
  request.on('upgrade', (_response, socket) => {
    socket.destroy();
    request.destroy(new Error('the WebSocket was opened'));
  });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const answer = await text(response);
  return { status: response.statusCode, code: (JSON.parse(answer) as { code?: unknown }).code, response };
}
