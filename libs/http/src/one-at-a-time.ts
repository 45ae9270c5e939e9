import type { RequestListener, ServerResponse } from 'node:http';
import { createLineBudget } from '@recordbus/limits/line-budget';
import type { Logger } from '@recordbus/process/logging';
import type { Connection, Connections, WaitingRequest } from './connections.ts';

/** How many requests may wait behind others. */
export interface WaitingLimit {
  /** On one connection. At this number reading pauses; requests in the 64 KiB already read still wait. */
  readonly perConnection: number;
  /** On all connections. Beyond it, connections with more than `perConnection` are cut. */
  readonly total: number;
}

/** A waiting request takes about 2 KiB and its headers. */
export const defaultWaitingLimit: WaitingLimit = { perConnection: 16, total: 10_000 };

/** How many log lines there may be, since clients could cause one with every connection. */
const linesPerMinute = 12;

/**
 * Passes the requests of a connection to an app one after another, each when the last byte of the previous answer has
 * been sent. node:http passes them all at once. Then the answers to a client that pipelines hundreds of requests and
 * reads nothing would fill the memory, and the client's writes could overtake each other (RFC 9112 §9.3.2).
 */
export function oneAtATime(
  app: RequestListener,
  connections: Connections,
  { perConnection, total }: WaitingLimit,
  log?: Logger,
): RequestListener {
  const reportCut = createReport(log);
  let waitingTotal = 0;

  function begin(connection: Connection, { request, response }: WaitingRequest): void {
    connection.answer = response;
    response.on('close', beginNext);
    app(request, response);
  }

  function beginNext(this: ServerResponse): void {
    const connection = connections.of(this.req.socket);
    if (!connection) return;
    const { socket, waiting } = connection;
    connection.answer = undefined;
    // A connection that is closing gets no more answers.
    if (!socket.writable) forgetWaiting(connection);
    const next = waiting.shift();
    if (!next) return;
    waitingTotal -= 1;
    if (waiting.length < perConnection && socket.isPaused()) socket.resume();
    begin(connection, next);
  }

  function forgetWaiting({ waiting }: Connection): void {
    waitingTotal -= waiting.length;
    waiting.length = 0;
  }

  /** Pauses after the bytes already read are parsed, since the parser resumes the connection after each request. */
  function pause(connection: Connection): void {
    if (connection.isPausing) return;
    connection.isPausing = true;
    process.nextTick(() => {
      connection.isPausing = false;
      if (connection.waiting.length >= perConnection) connection.socket.pause();
    });
  }

  return (request, response) => {
    const connection = connections.of(request.socket);
    if (!connection?.socket.writable) return;
    if (!connection.answer) {
      begin(connection, { request, response });
      return;
    }
    const count = connection.waiting.push({ request, response });
    waitingTotal += 1;
    if (count >= perConnection) pause(connection);
    if (waitingTotal <= total || count <= perConnection) return;
    reportCut(count);
    forgetWaiting(connection);
    connection.socket.destroy();
  };
}

/** Creates a function that logs connections that were cut, with how many of their requests waited. */
function createReport(log: Logger | undefined): (requests: number) => void {
  const mayWarn = createLineBudget(linesPerMinute, (count) =>
    log?.warn({ count }, 'more connections were cut for too many waiting requests; their lines were omitted'),
  );
  return (requests) => {
    if (mayWarn()) log?.warn({ requests }, 'connection cut: too many waiting requests');
  };
}
