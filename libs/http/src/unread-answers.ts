import type { Socket } from 'node:net';
import { createLineBudget } from '@recordbus/limits/line-budget';
import type { Logger } from '@recordbus/process/logging';
import { type Metrics, sampledGauge } from '@recordbus/process/metrics';
import type { Connections } from './connections.ts';

/** How many bytes of unread answers a process may hold in memory. */
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

/** How many log lines there may be, since clients could cause one with every check. */
const linesPerMinute = 12;

/**
 * Bounds the unread bytes of all clients together. Beyond the limit, connections are cut until the rest fits: first those
 * whose clients have read nothing since the last check, and among these the ones with the most bytes first. Returns a
 * function that ends the checks.
 */
export function boundUnreadAnswers(
  connections: Connections,
  { maxBytes, everyMs }: UnreadLimit,
  reports: UnreadReports,
): () => void {
  const report = createReport(connections, reports);
  /** The bytes that clients had read at the last check. */
  let readBefore = new Map<Socket, number>();

  function check(): void {
    const unread = unreadAnswers(connections);
    const read = new Map(unread.map(({ socket, bytes }) => [socket, socket.bytesWritten - bytes]));
    const isStalled = ({ socket }: UnreadAnswer) => read.get(socket) === readBefore.get(socket);
    const excess = totalBytes(unread) - maxBytes;
    if (excess > 0) {
      unread.sort((a, b) => Number(isStalled(b)) - Number(isStalled(a)) || b.bytes - a.bytes);
      report(cut(unread, excess));
    }
    readBefore = read;
  }

  const timer = setInterval(check, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

interface UnreadAnswer {
  readonly socket: Socket;
  readonly bytes: number;
}

function unreadAnswers(connections: Connections): UnreadAnswer[] {
  const unread: UnreadAnswer[] = [];
  for (const { socket, answer } of connections)
    if (answer && answer.writableLength > 0) unread.push({ socket, bytes: answer.writableLength });
  return unread;
}

const totalBytes = (unread: readonly UnreadAnswer[]): number => unread.reduce((sum, { bytes }) => sum + bytes, 0);

interface Cut {
  readonly connections: number;
  readonly bytes: number;
}

/** Cuts the first answers' connections, until at least `minBytes` are freed. */
function cut(unread: readonly UnreadAnswer[], minBytes: number): Cut {
  const cut = { connections: 0, bytes: 0 };
  for (const { socket, bytes } of unread) {
    if (cut.bytes >= minBytes) break;
    cut.connections += 1;
    cut.bytes += bytes;
    socket.destroy();
  }
  return cut;
}

/** Creates a function that logs and counts cuts; also registers the gauge of unread bytes. */
function createReport(connections: Connections, { log, metrics }: UnreadReports): (cut: Cut) => void {
  const mayWarn = createLineBudget(linesPerMinute, (count) =>
    log?.warn({ count }, 'more connections were cut for unread answers; their lines were omitted'),
  );
  const counter = metrics?.counter(
    'recordbus_unread_answers_cut_total',
    'Connections that were cut because unread answers took too much memory.',
  );
  if (metrics)
    sampledGauge(metrics, {
      name: 'recordbus_unread_answers_bytes',
      help: "Answer bytes that clients have not read yet, without the operating system's buffers.",
      sample: () => totalBytes(unreadAnswers(connections)),
    });
  return ({ connections, bytes }) => {
    counter?.inc(connections);
    if (mayWarn()) log?.warn({ connections, bytes }, 'connections cut: unread answers took too much memory');
  };
}
