import { unavailable } from '@recordbus/errors';
import type { LiveCaller } from '@recordbus/live';
import type { RequestContext } from '@recordbus/request/context';
import { Connection } from './connection/connection.ts';
import type { Transport } from './connection/transport.ts';
import type { RealtimeParts } from './realtime-parts.ts';
import { formatCursor } from './stream/cursor.ts';

/** The request that opens a connection. */
export interface OpeningRequest {
  readonly context: RequestContext;
  /** The request parts that rules may read. */
  readonly caller: Omit<LiveCaller, 'principal'>;
}

/**
 * Waits until the stream is read. Throws 503 while the service stops or the bus does not answer, and 429 if the caller
 * has too many connections.
 */
export async function checkOpening(
  { limits, changes }: RealtimeParts,
  { context }: OpeningRequest,
  isDraining: boolean,
): Promise<void> {
  if (isDraining) throw unavailable('this replica stops');
  await changes.ready();
  limits.check(context);
}

/** Creates a request's connection, counts it and watches its session until it ends. */
export function openConnection(
  { limits, changes, connections, sessions, metrics }: RealtimeParts,
  { context, caller }: OpeningRequest,
  transport: Transport,
): Connection {
  const leave = limits.enter(context);
  const connection = new Connection({
    context,
    caller,
    transport,
    cursorAt: (seq) => formatCursor({ ...changes.end, seq }),
    onEnd(ended, reason) {
      leave();
      connections.delete(ended);
      sessions.delete(ended);
      metrics.onClosed(reason);
    },
  });
  connections.add(connection);
  sessions.add(connection);
  return connection;
}

/** Parameters that rules cannot read. */
const ownParameters: ReadonlySet<string> = new Set(['subscribe', 'ticket']);

/** Returns the query part that rules may read. */
export const readableQuery = (entries: Iterable<readonly [string, unknown]>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...entries].filter(([name]) => !ownParameters.has(name)).map(([name, value]) => [name, String(value)]),
  );
