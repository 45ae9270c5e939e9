import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createLineBudget } from '../line-budget.ts';
import type { Logger } from '../logging.ts';

interface WaitingRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** How many requests may wait behind others. */
export interface WaitingLimit {
  /** The number on one connection; then reading from it pauses. Requests in the 64 KiB already read wait too. */
  readonly perConnection: number;
  /** The number on all connections. Beyond it connections with more than `perConnection` are cut. */
  readonly total: number;
}

/** A waiting request takes about 2 KiB and its headers. */
export const defaultWaitingLimit: WaitingLimit = { perConnection: 16, total: 10_000 };

/** Clients can cause a line with every connection. */
const linesPerMinute = 12;

/** The requests that wait on a connection that has one under way. */
interface Line {
  readonly requests: WaitingRequest[];
  isPausing: boolean;
}

/**
 * Passes the requests of a connection to an app one after another, each when the last byte of the previous answer has
 * been sent. node:http passes all at once: the answers of a client that pipelines hundreds of requests and reads
 * nothing would fill the memory, and its writes could overtake each other (RFC 9112 §9.3.2).
 */
export function oneAtATime(
  app: RequestListener,
  { perConnection, total }: WaitingLimit,
  log?: Logger,
): RequestListener {
  const lines = new WeakMap<Socket, Line>();
  const reportCut = createReport(log);
  let waitingTotal = 0;

  function begin(socket: Socket, { request, response }: WaitingRequest): void {
    response.once('close', () => beginNext(socket));
    app(request, response);
  }

  function beginNext(socket: Socket): void {
    const requests = lines.get(socket)?.requests ?? [];
    // A connection that is closing gets no more answers.
    const next = socket.writable ? requests.shift() : undefined;
    if (!next) {
      forget(socket);
      return;
    }
    waitingTotal -= 1;
    if (requests.length < perConnection && socket.isPaused()) socket.resume();
    begin(socket, next);
  }

  function forget(socket: Socket): void {
    waitingTotal -= lines.get(socket)?.requests.length ?? 0;
    lines.delete(socket);
  }

  /** Pauses after the bytes already read are parsed, since the parser resumes the connection after each request. */
  function pause(socket: Socket, line: Line): void {
    if (line.isPausing) return;
    line.isPausing = true;
    process.nextTick(() => {
      line.isPausing = false;
      if (line.requests.length >= perConnection) socket.pause();
    });
  }

  return (request, response) => {
    const { socket } = request;
    if (!socket.writable) return;
    const line = lines.get(socket);
    if (!line) {
      lines.set(socket, { requests: [], isPausing: false });
      begin(socket, { request, response });
      return;
    }
    const count = line.requests.push({ request, response });
    waitingTotal += 1;
    if (count >= perConnection) pause(socket, line);
    if (waitingTotal <= total || count <= perConnection) return;
    reportCut(count);
    forget(socket);
    socket.destroy();
  };
}

/** Creates a function that logs connections that were cut, with the number of their waiting requests. */
function createReport(log: Logger | undefined): (requests: number) => void {
  const mayWarn = createLineBudget(linesPerMinute, (count) =>
    log?.warn({ count }, 'more connections were cut because of too many waiting requests; their lines were omitted'),
  );
  return (requests) => {
    if (mayWarn()) log?.warn({ requests }, 'connection cut: too many waiting requests');
  };
}
