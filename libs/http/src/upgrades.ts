import { type IncomingMessage, type RequestListener, type Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { RequestContext } from '@recordbus/request/context';
import { guarded, inRequest } from '@recordbus/request/request-scope';
import { hasBody } from './body.ts';
import type { Connections } from './connections.ts';
import { inServerSpan } from './server-span.ts';
import type { UpgradeHandler } from './service.ts';

/** The first bytes after each request for a WebSocket. */
const heads = new WeakMap<IncomingMessage, Buffer>();

/** Returns the first bytes after a request for a WebSocket; undefined for every other request. */
export const upgradeHead = (request: IncomingMessage): Buffer | undefined => heads.get(request);

/**
 * Whether the request asks for a WebSocket. Upgrades to other protocols are ignored, as HTTP allows (RFC 9110 §7.8).
 */
export const asksForWebSocket = ({ headers }: IncomingMessage): boolean =>
  headers.upgrade?.trim().toLowerCase() === 'websocket';

/**
 * Passes requests for WebSockets to the app like all others, with an answer that closes the connection. Code that takes
 * over the connection writes to its socket instead. Then the answer closes when the socket does.
 */
export function serveUpgrades(server: Server, connections: Connections, app: RequestListener): void {
  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    // node:http no longer listens to the socket. An error is followed by its close.
    socket.on('error', () => {});
    const connection = connections.of(socket);
    // Browsers open a connection for each WebSocket. After an unfinished answer, both would write to the socket. A body
    // was not parsed, unless node:http asked `shouldUpgradeCallback`, which it does from 24.9 on.
    if (!connection || connection.answer || (hasBody(request) && !asksForWebSocket(request))) {
      socket.destroy();
      return;
    }
    connection.socket.setTimeout(0);
    if (asksForWebSocket(request)) heads.set(request, head);
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(connection.socket);
    response.once('finish', () => connection.socket.destroySoon());
    connection.answer = response;
    app(request, response);
  };
  server.on('upgrade', guarded(onUpgrade));
}

/**
 * Lets a service take over the connection of a request for a WebSocket. Resolves when it has, or the client has left.
 * Rejects with the handler's error if nothing was sent yet, so that the caller can refuse the request.
 */
export async function dispatchUpgrade(
  upgrade: UpgradeHandler,
  request: IncomingMessage,
  response: ServerResponse,
  head: Buffer,
  context: RequestContext,
): Promise<void> {
  const { socket } = request;
  if (socket.destroyed) return;
  const sentBefore = socket.bytesWritten;
  // The headers belong to this connection again.
  request.headers.connection = 'Upgrade';
  request.headers.upgrade = 'websocket';
  // For the log: the service writes its answer to the socket.
  response.statusCode = 101;
  const takeOver = () => upgrade(request, socket as Duplex, head, context);
  try {
    await inServerSpan({ request, response, context, traceparent: context.traceparent }, () =>
      inRequest(context, takeOver, { response, fail: () => socket.destroy() }),
    );
  } catch (error) {
    if (socket.destroyed) return;
    if (socket.bytesWritten === sentBefore) throw error;
    socket.destroy();
  }
}
