import { every } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import { messages } from '../messages/messages.ts';
import type { Connection } from './connection.ts';

/** This replica's open connections. */
export interface Connections extends Iterable<Connection> {
  readonly size: number;
  add(connection: Connection): void;
  delete(connection: Connection): void;
  start(): void;
  stop(): Promise<void>;
}

interface ConnectionsOptions {
  readonly log: Logger;
  /** The stream's current end, or undefined while it is not known. */
  readonly end: () => { readonly seq: number; readonly text: string } | undefined;
}

/** Each connection gets a heartbeat every 15 s. Every second one group of connections gets theirs (realtime §3.3). */
const heartbeatGroups = 15;
const intervalMs = 1000;

export function createConnections({ log, end }: ConnectionsOptions): Connections {
  const groups = Array.from({ length: heartbeatGroups }, () => new Set<Connection>());
  const groupOf = new Map<Connection, Set<Connection>>();
  let turn = 0;
  const beating = every({
    name: 'send heartbeats',
    log,
    intervalMs,
    firstAfterMs: intervalMs,
    async run() {
      turn = (turn + 1) % heartbeatGroups;
      const position = end();
      if (!position) return;
      const frame = messages.heartbeat(position.text);
      for (const connection of groups[turn] ?? []) connection.beat(position.seq, frame);
    },
  });

  return {
    get size() {
      return groupOf.size;
    },
    add(connection) {
      // The group whose turn was last, so the first heartbeat comes after 15 s.
      const group = groups[turn] ?? new Set();
      group.add(connection);
      groupOf.set(connection, group);
    },
    delete(connection) {
      groupOf.get(connection)?.delete(connection);
      groupOf.delete(connection);
    },
    start: beating.start,
    stop: beating.stop,
    [Symbol.iterator]: () => groupOf.keys(),
  };
}
