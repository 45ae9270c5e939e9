import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { heartbeat } from '@recordbus/process/background';
import { ConfigError } from '@recordbus/process/config';
import { guarded } from '@recordbus/request/request-scope';
import { type Connections, createConnections, lastAnswer } from './connections.ts';
import { continueOnDemand } from './continue-on-demand.ts';
import { defaultWaitingLimit, oneAtATime, type WaitingLimit } from './one-at-a-time.ts';
import { cutSlowClients, defaultPatience, type Patience } from './slow-clients.ts';
import { boundUnreadAnswers, defaultUnreadLimit, type UnreadLimit, type UnreadReports } from './unread-answers.ts';
import { refuseUnreadable } from './unreadable.ts';
import { asksForWebSocket, serveUpgrades, upgradeHead } from './upgrades.ts';

/** A server that is listening. */
export interface ListeningServer {
  readonly url: string;
  readonly port: number;
  /** Stops accepting connections, lets requests finish, and resolves when the last one has. */
  close(): Promise<void>;
}

interface ListenOptions extends UnreadReports {
  readonly port: number;
  readonly host: string;
  /** Whether requests come from the gateway; the limit of headers then has room for the signed context. */
  readonly isBehindGateway?: boolean;
  /** Whether the app takes requests for WebSockets (`upgradeHead`). */
  readonly acceptsWebSockets?: boolean;
  /** How long WebSockets may outlast the start of a close, in milliseconds; 10 s by default. */
  readonly webSocketsEndMs?: number;
  readonly patience?: Patience;
  readonly unreadLimit?: UnreadLimit;
  readonly waitingLimit?: WaitingLimit;
}

/** Largest request line and headers together (http §2.7); a vector of 4,096 dimensions fits in a query. */
export const maxHeaderBytes = 128 * 1024;

/** More than a signed context takes. */
const contextBytes = 8 * 1024;

/**
 * How many connections wait for a busy process to accept them. Thousands come at once when a replica restarts, and a client
 * beyond the limit tries again a second later. The system's limit may be lower (`net.core.somaxconn`).
 */
const backlog = 4096;

/** How often a server that is closing ends the connections whose request was the last, in milliseconds. */
const idleSweepMs = 50;

/** How long a server that closes waits for the first bytes on a connection, in milliseconds: they may be on their way. */
const silenceMs = 1000;

/**
 * Serves an app. Keep-alive outlasts the usual idle time of load balancers (60 s). The service limits the total time of
 * a request; connections are cut when a client is too slow (`Patience`) or when unread answers take too much memory
 * (`UnreadLimit`). The app gets the requests of a connection one after another.
 */
export function listen(app: RequestListener, options: ListenOptions): Promise<ListeningServer> {
  const { port, host, patience = defaultPatience, log } = options;
  const connections = createConnections();
  const patientApp = cutSlowClients(app, patience);
  const serve = oneAtATime(patientApp, connections, options.waitingLimit ?? defaultWaitingLimit, log);
  const endChecks = boundUnreadAnswers(connections, options.unreadLimit ?? defaultUnreadLimit, options);
  const server = createRequestServer(serve, options);
  server.on('connection', connections.add);
  handleUnreadable(server, connections);
  if (options.acceptsWebSockets) serveUpgrades(server, connections, app);
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(listenRefusal(error, port, host)));
    server.listen({ port, host, backlog }, () => {
      const address = server.address() as AddressInfo;
      const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
      const close = () => closeServer(server, connections, options.webSocketsEndMs).finally(endChecks);
      resolve({ url: `http://${name}:${address.port}`, port: address.port, close });
    });
  });
}

function createRequestServer(
  serve: RequestListener,
  { patience = defaultPatience, isBehindGateway = false, acceptsWebSockets = false }: ListenOptions,
): Server {
  const server = createServer(
    {
      maxHeaderSize: isBehindGateway ? maxHeaderBytes + contextBytes : maxHeaderBytes,
      // The app checks it: node:http's own refusal has neither our headers nor the shape of refusals.
      requireHostHeader: false,
      keepAliveTimeout: 65_000,
      headersTimeout: patience.headMs,
      connectionsCheckingInterval: patience.headMs / 4,
      requestTimeout: 0,
      ...(acceptsWebSockets && { shouldUpgradeCallback: asksForWebSocket }),
    },
    serve,
  );
  server.timeout = patience.periodMs;
  // By default node:http silently drops headers after the first thousand.
  server.maxHeadersCount = 0;
  server.on('checkContinue', (request, response) => {
    continueOnDemand(request, response);
    serve(request, response);
  });
  // Another expectation is no reason to refuse the request.
  server.on('checkExpectation', serve);
  return server;
}

/** Refuses bytes that are not a request, once for each connection. */
function handleUnreadable(server: Server, connections: Connections): void {
  const refused = new WeakSet<Duplex>();
  const refuse = (error: Error, socket: Duplex) => {
    // Further bytes cause the same error again.
    if (refused.has(socket)) return;
    refused.add(socket);
    const connection = connections.of(socket);
    refuseUnreadable(error, socket, connection && lastAnswer(connection));
  };
  server.on('clientError', guarded(refuse));
  const refuseProxying = (_request: unknown, socket: Duplex) => refuse(new Error('this server is not a proxy'), socket);
  server.on('connect', guarded(refuseProxying));
}

/** Stops accepting connections and resolves when the last request has finished, and the last WebSocket has ended. */
function closeServer(server: Server, connections: Connections, webSocketsEndMs = 10_000): Promise<void> {
  const sinceMs = performance.now();
  // A busy connection becomes idle and would wait for its next request. node:http does not count one as idle that a
  // browser opened in advance and that has sent nothing.
  const closeIdle = () => {
    server.closeIdleConnections();
    const passedMs = performance.now() - sinceMs;
    const [isSilent, isOver] = [passedMs >= silenceMs, passedMs >= webSocketsEndMs];
    for (const { socket, answer } of connections)
      if ((isSilent && socket.bytesRead === 0) || (isOver && answer && upgradeHead(answer.req))) socket.destroy();
  };
  return new Promise((resolve, reject) => {
    const endSweep = heartbeat(idleSweepMs, closeIdle);
    server.close((error) => {
      endSweep();
      if (error) reject(error);
      else resolve();
    });
  });
}

/** Returns a ConfigError when the server cannot listen on the address; any other error unchanged. */
export function listenRefusal(error: Error, port: number, host: string): Error {
  const code = 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') return new ConfigError(`SERVICE_PORT ${port} is taken by another program.`);
  if (code === 'EACCES') return new ConfigError(`SERVICE_PORT ${port} is not open to this user.`);
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return new ConfigError(`SERVICE_HOST ${host} is not an address of this machine.`);
  return error;
}
