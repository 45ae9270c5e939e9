import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { hasBody } from './body.ts';

/** The limits for slow clients, whose connections are cut. */
export interface Patience {
  /** A request's head has to arrive within this time. */
  readonly headMs: number;
  /** In each such period a body must end or bring `minBodyBytes`, and the client must read some of an answer. */
  readonly periodMs: number;
  readonly minBodyBytes: number;
}

/** 500 bytes per second are enough. A slower client holds resources for at most two minutes. */
export const defaultPatience: Patience = { headMs: 20_000, periodMs: 60_000, minBodyBytes: 30_000 };

/**
 * Cuts the connections of clients that send their body too slowly or do not read their answer. An upload may take hours
 * as long as it makes progress, and time that a service takes does not count. The server's `timeout` has to be the
 * period.
 */
export function cutSlowClients(app: RequestListener, { periodMs, minBodyBytes }: Patience): RequestListener {
  return (request, response) => {
    if (hasBody(request)) watchBody(request, response, periodMs, minBodyBytes);
    response.on('timeout', cutIfUnread);
    app(request, response);
  };
}

function watchBody(request: IncomingMessage, response: ServerResponse, periodMs: number, minBytes: number): void {
  const { socket } = request;
  let seenBytes = socket.bytesRead;
  const timer = setInterval(() => {
    const receivedBytes = socket.bytesRead - seenBytes;
    seenBytes = socket.bytesRead;
    if (request.complete) clearInterval(timer);
    else if (receivedBytes < minBytes) request.destroy();
  }, periodMs);
  response.once('close', () => clearInterval(timer));
}

/**
 * Cuts a connection without traffic for a period if the client is not reading; it stays if nothing is to be sent yet.
 */
function cutIfUnread(this: ServerResponse, socket: Socket): void {
  if (this.writableLength > 0) socket.destroy();
}
