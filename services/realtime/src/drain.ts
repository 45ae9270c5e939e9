import { startSlice } from '@recordbus/shared/time-slice';
import type { Connection } from './connection/connection.ts';
import { sendAway } from './connection/send-away.ts';

/** All clients of a replica come back to the others. */
const comeBack = { leastMs: 0, spreadMs: 5000 } as const;

/** Tells every client to come back, to another replica, and closes its connection. */
export async function drainConnections(connections: Iterable<Connection>): Promise<void> {
  const slice = startSlice();
  for (const connection of [...connections]) {
    sendAway(connection, comeBack);
    if (slice.isOver()) await slice.pause();
  }
}
