import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hasBody } from './body.ts';
import { refuseUnreadable } from './unreadable.ts';

/** A server that is listening: where, and how to end it. */
export interface ListeningServer {
  readonly url: string;
  readonly port: number;
  /** Takes no new connection, lets requests in flight finish, and resolves when the last one has. */
  close(): Promise<void>;
}

interface ListenOptions {
  readonly port: number;
  readonly host: string;
}

/** Request line and headers together (contract §2: a vector of 4,096 dimensions fits in a query). */
const maxHeaderBytes = 128 * 1024;

/** How long a body may stand still before its connection is cut, in milliseconds. */
const bodyStallMs = 60_000;

/** How often a server that is closing ends the connections whose request was the last, in milliseconds. */
const idleSweepMs = 50;

/**
 * Serves an app. Keep-alive outlasts the usual idle time of load balancers (60 s); headers have to arrive within 20 s,
 * so a client that drips them can't hold a connection. A body that stands still for a minute is cut; how long one may
 * take in all is its reader's to say, for an upload may take hours as long as it moves.
 */
export function listen(app: RequestListener, { port, host }: ListenOptions): Promise<ListeningServer> {
  const server = createServer(
    { maxHeaderSize: maxHeaderBytes, keepAliveTimeout: 65_000, headersTimeout: 20_000, requestTimeout: 0 },
    cutStalledBodies(app),
  );
  server.on('clientError', refuseUnreadable);
  const close = () =>
    new Promise<void>((resolve, reject) => {
      // A connection that is busy now is kept for its next request once it is not.
      const sweep = setInterval(() => server.closeIdleConnections(), idleSweepMs);
      server.close((error) => {
        clearInterval(sweep);
        if (error) reject(error);
        else resolve();
      });
    });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      const address = server.address() as AddressInfo;
      const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
      resolve({ url: `http://${name}:${address.port}`, port: address.port, close });
    });
  });
}

function cutStalledBodies(app: RequestListener): RequestListener {
  return (request, response) => {
    if (hasBody(request)) {
      request.setTimeout(bodyStallMs, () => request.destroy());
      // Without a listener of its own, an answer that is slow to come would be cut as well.
      response.on('timeout', () => {});
    }
    app(request, response);
  };
}
