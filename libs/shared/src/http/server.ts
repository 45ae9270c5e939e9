import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { continueOnDemand } from './continue-on-demand.ts';
import { cutSlowClients, defaultPatience, type Patience } from './slow-clients.ts';
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
  /** Does the gateway ask, with a context of its own in the headers, so that they may be larger by that? */
  readonly isBehindGateway?: boolean;
  readonly patience?: Patience;
}

/** Request line and headers together (contract §2: a vector of 4,096 dimensions fits in a query). */
export const maxHeaderBytes = 128 * 1024;

/** More than a context takes when it is sealed. */
const contextBytes = 8 * 1024;

/** How often a server that is closing ends the connections whose request was the last, in milliseconds. */
const idleSweepMs = 50;

/**
 * Serves an app. Keep-alive outlasts the usual idle time of load balancers (60 s). How long a request may take in all is
 * its service's to say; clients that are too slow are cut (`Patience`).
 */
export function listen(
  app: RequestListener,
  { port, host, isBehindGateway = false, patience = defaultPatience }: ListenOptions,
): Promise<ListeningServer> {
  const lastAnswers = new WeakMap<Duplex, ServerResponse>();
  const serve = cutSlowClients((request, response) => {
    lastAnswers.set(request.socket, response);
    app(request, response);
  }, patience);
  const server = createServer(
    {
      maxHeaderSize: isBehindGateway ? maxHeaderBytes + contextBytes : maxHeaderBytes,
      // node:http would answer for itself, without the headers and the shape of other answers; the app knows them.
      requireHostHeader: false,
      keepAliveTimeout: 65_000,
      headersTimeout: patience.headMs,
      connectionsCheckingInterval: patience.headMs / 4,
      requestTimeout: 0,
    },
    serve,
  );
  server.timeout = patience.periodMs;
  // By default node:http leaves out those after the thousandth, and says so to nobody.
  server.maxHeadersCount = 0;
  server.on('checkContinue', (request, response) => {
    continueOnDemand(request, response);
    serve(request, response);
  });
  // Whatever else a client expects is nothing that it could be refused for.
  server.on('checkExpectation', serve);
  const refused = new WeakSet<Duplex>();
  const refuse = (error: Error, socket: Duplex) => {
    // Whatever still comes is no HTTP either, and says so each time.
    if (refused.has(socket)) return;
    refused.add(socket);
    refuseUnreadable(error, socket, lastAnswers.get(socket));
  };
  server.on('clientError', refuse);
  server.on('connect', (_request, socket) => refuse(new Error('this is no proxy'), socket));
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
