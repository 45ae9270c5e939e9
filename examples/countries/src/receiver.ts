import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A received request. The signatures cover exactly these bytes. */
export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** By `performance.now()`'s clock. */
  readonly atMs: number;
}

interface Receiver {
  readonly port: number;
  close(): Promise<void>;
}

/** Starts the server that receives the deliveries: on loopback, or on every address for a stack on another machine. */
export async function startReceiver(isPublic: boolean, onReceived: (received: Received) => void): Promise<Receiver> {
  const server = createServer(async (request, response) => {
    const atMs = performance.now();
    try {
      const body = await text(request);
      response.writeHead(204).end();
      onReceived({ headers: request.headers, body, atMs });
    } catch {
      // The sender disconnected before the end; it will retry.
      response.destroy();
    }
  });
  server.listen(0, isPublic ? '0.0.0.0' : '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
