import type { RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createLineBudget } from '../line-budget.ts';
import type { Logger } from '../logging.ts';
import { type Metrics, sampledGauge } from '../metrics/index.ts';

/** How many bytes of unread answers a process holds in memory. */
export interface UnreadLimit {
  readonly maxBytes: number;
  /** How often it is checked, in milliseconds. */
  readonly everyMs: number;
}

/** Above the limit of a process's large answers (docs/cost-budget.md). */
export const defaultUnreadLimit: UnreadLimit = { maxBytes: 384 * 2 ** 20, everyMs: 250 };

/** The log and the metrics for cut connections. */
export interface UnreadReports {
  readonly log?: Logger | undefined;
  readonly metrics?: Metrics | undefined;
}

/** Clients can cause a line with every check. */
const linesPerMinute = 12;

interface UnreadBound {
  /** The app with bounded answers. */
  readonly app: RequestListener;
  stop(): void;
}

/**
 * Bounds the unread bytes of all clients together. Beyond the limit connections are cut until the rest fits: first
 * those whose clients have read nothing since the last check, those with the most bytes first. The app gets the
 * requests of a connection one after another, so a connection has one answer.
 */
export function boundUnreadAnswers(
  app: RequestListener,
  { maxBytes, everyMs }: UnreadLimit,
  reports: UnreadReports,
): UnreadBound {
  const open = new Set<ServerResponse>();
  const report = createReport(open, reports);
  /** The bytes that clients had read at the last check. */
  let readBefore = new Map<Socket, number>();

  function check(): void {
    const unread = [...open].filter(({ writableLength }) => writableLength > 0);
    const read = new Map(unread.map(({ req: { socket } }) => [socket, socket.bytesWritten - socket.writableLength]));
    const isStalled = ({ req: { socket } }: ServerResponse) => read.get(socket) === readBefore.get(socket);
    readBefore = read;
    const excess = unreadBytes(unread) - maxBytes;
    if (excess <= 0) return;
    unread.sort((a, b) => Number(isStalled(b)) - Number(isStalled(a)) || b.writableLength - a.writableLength);
    report(cut(unread, excess));
  }

  const timer = setInterval(check, everyMs);
  timer.unref();
  return {
    app(request, response) {
      open.add(response);
      response.once('close', () => open.delete(response));
      app(request, response);
    },
    stop: () => clearInterval(timer),
  };
}

interface Cut {
  readonly connections: number;
  readonly bytes: number;
}

/** Cuts the connections of the first answers, until at least `minBytes` are freed. */
function cut(unread: readonly ServerResponse[], minBytes: number): Cut {
  let [connections, bytes] = [0, 0];
  for (const response of unread) {
    if (bytes >= minBytes) break;
    connections += 1;
    bytes += response.writableLength;
    response.req.socket.destroy();
  }
  return { connections, bytes };
}

const unreadBytes = (responses: Iterable<ServerResponse>): number => {
  let bytes = 0;
  for (const { writableLength } of responses) bytes += writableLength;
  return bytes;
};

/** Creates a function that logs and counts cuts; also registers the gauge of unread bytes. */
function createReport(open: Iterable<ServerResponse>, { log, metrics }: UnreadReports): (cut: Cut) => void {
  const mayWarn = createLineBudget(linesPerMinute, (count) =>
    log?.warn({ count }, 'more connections were cut because of unread answers; their lines were omitted'),
  );
  const counter = metrics?.counter(
    'recordbus_unread_answers_cut_total',
    'Connections that were cut because unread answers took too much memory.',
  );
  if (metrics)
    sampledGauge(metrics, {
      name: 'recordbus_unread_answers_bytes',
      help: 'Bytes of answers that clients have not read yet, apart from the buffers of the system.',
      sample: () => unreadBytes(open),
    });
  return ({ connections, bytes }) => {
    counter?.inc(connections);
    if (mayWarn()) log?.warn({ connections, bytes }, 'connections cut: unread answers took too much memory');
  };
}
