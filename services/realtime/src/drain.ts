import { startSlice } from '@recordbus/shared/time-slice';
import type { Connection } from './connection/connection.ts';
import { messages } from './messages/messages.ts';

/** Clients come back spread over this time, in milliseconds, so that they do not arrive all at once. */
const spreadMs = 5000;

/** Tells every client to come back, to another replica, and closes its connection. */
export async function drainConnections(connections: Iterable<Connection>): Promise<void> {
  const slice = startSlice();
  for (const connection of [...connections]) {
    connection.end('shutdown', messages.reconnect(Math.round(Math.random() * spreadMs)));
    if (slice.isOver()) await slice.pause();
  }
}
