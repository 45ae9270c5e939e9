import { startSlice } from '@recordbus/limits/time-slice';
import type { Connection } from './connection/connection.ts';
import { endForReconnect } from './connection/end-for-reconnect.ts';

/** When a replica's clients reconnect to the others. */
const drainDelay = { minMs: 0, spreadMs: 5000 } as const;

/** Asks every client to reconnect, which leads to another replica, and closes its connection. */
export async function drainConnections(connections: Iterable<Connection>): Promise<void> {
  const slice = startSlice();
  for (const connection of [...connections]) {
    endForReconnect(connection, drainDelay);
    if (slice.isOver()) await slice.pause();
  }
}
