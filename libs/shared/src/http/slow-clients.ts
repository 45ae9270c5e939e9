import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { hasBody } from './body.ts';

/** How slow a client may be before its connection is cut. */
export interface Patience {
  /** The whole head of a request has to be there within this time. */
  readonly headMs: number;
  /** In each such period a body has to end or to bring so many bytes, and somebody has to read some of an answer. */
  readonly periodMs: number;
  readonly leastBodyBytes: number;
}

/** 500 bytes a second are enough, and a client that drips less holds nothing for more than two minutes. */
export const defaultPatience: Patience = { headMs: 20_000, periodMs: 60_000, leastBodyBytes: 30_000 };

/**
 * Cuts the connections of clients that hardly send their body or do not read their answer. An upload may take hours as
 * long as it moves, and a service may take its time. The server's own `timeout` has to be the period.
 */
export function cutSlowClients(app: RequestListener, { periodMs, leastBodyBytes }: Patience): RequestListener {
  return (request, response) => {
    if (hasBody(request)) watchBody(request, response, periodMs, leastBodyBytes);
    response.on('timeout', cutWhoReadsNothing);
    app(request, response);
  };
}

function watchBody(request: IncomingMessage, response: ServerResponse, periodMs: number, leastBytes: number): void {
  const { socket } = request;
  let seenBytes = socket.bytesRead;
  const timer = setInterval(() => {
    const came = socket.bytesRead - seenBytes;
    seenBytes = socket.bytesRead;
    if (request.complete) clearInterval(timer);
    else if (came < leastBytes) request.destroy();
  }, periodMs);
  response.once('close', () => clearInterval(timer));
}

/** Nothing went either way for a period: because the client takes nothing, or because there is nothing to send yet. */
function cutWhoReadsNothing(this: ServerResponse, socket: Socket): void {
  if (this.writableLength > 0) socket.destroy();
}
