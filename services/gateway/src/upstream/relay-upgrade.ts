import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Dispatcher } from 'undici';
import { setClientHeaders } from './forwarded-headers.ts';
import type { HeldConnection } from './held-connection.ts';
import { Relay, type RelayOptions } from './relay.ts';
import { ServiceRequest } from './service-request.ts';
import { closeSoon, splice } from './splice.ts';

/**
 * Forwards a request for a WebSocket. When the service accepts it, both connections are joined. Resolves then, or when
 * the service's refusal has been sent. Rejects with RelayError if no answer began.
 */
export function relayUpgrade(
  dispatcher: Dispatcher,
  request: IncomingMessage,
  response: ServerResponse,
  head: Buffer,
  { sign, ...options }: RelayOptions,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const relay = new Relay(request, response, { ...options, resolve, reject });
    const join = (service: Duplex, headers: IncomingHttpHeaders): void => {
      relay.release();
      const { socket } = request;
      if (socket.destroyed) {
        service.destroy();
        resolve();
        return;
      }
      setClientHeaders(response, headers);
      response.setHeader('Connection', 'Upgrade');
      response.setHeader('Upgrade', 'websocket');
      response.writeHead(101);
      response.flushHeaders();
      if (head.length > 0) service.write(head);
      const held = joined(options.client, socket, service);
      options.held.add(held);
      splice(socket, service, () => options.held.remove(held));
      resolve();
    };
    dispatcher.dispatch(new ServiceRequest(request, { sign, body: null, upgrade: 'websocket' }), {
      onRequestStart: (controller) => relay.onRequestStart(controller),
      onRequestUpgrade: (_controller, _status, headers, service) => join(service, headers),
      onResponseStart: (controller, status, headers) => relay.onResponseStart(controller, status, headers),
      onResponseData: (controller, chunk) => relay.onResponseData(controller, chunk),
      onResponseEnd: () => relay.onResponseEnd(),
      onResponseError: (controller, error) => relay.onResponseError(controller, error),
    });
  });
}

/** Two joined connections. The service decides how much a client may leave unread. */
const joined = (client: string, socket: Duplex, service: Duplex): HeldConnection => ({
  index: -1,
  client,
  sinceMs: performance.now(),
  isClientSlow: () => false,
  cut: () => socket.destroy(),
  end: () => {
    closeSoon(socket);
    service.destroy();
  },
});
