import { startSlice } from '@recordbus/shared/time-slice';
import type { Connection } from './connection/connection.ts';
import { sendAway } from './connection/send-away.ts';

/** When the clients of a replica reconnect to the others. */
const comeBack = { leastMs: 0, spreadMs: 5000 } as const;

/** Asks every client to reconnect, which leads to another replica, and closes its connection. */
export async function drainConnections(connections: Iterable<Connection>): Promise<void> {
  const slice = startSlice();
  for (const connection of [...connections]) {
    sendAway(connection, comeBack);
    if (slice.isOver()) await slice.pause();
  }
}
