import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

export interface WaitingRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** What a server knows about a client's connection. */
export interface Connection {
  readonly socket: Socket;
  /** The unfinished answer; there is at most one. */
  answer: ServerResponse | undefined;
  /** Requests that arrived before the unfinished answer was sent. */
  readonly waiting: WaitingRequest[];
  /** Whether reading pauses as soon as the bytes already read are parsed. */
  isPausing: boolean;
}

/**
 * The open connections of a server. Each has one record for its lifetime. With a collection that gains and loses an entry
 * for every request, V8 kept finished requests, which doubled the time for garbage collection.
 */
export interface Connections extends Iterable<Connection> {
  /** Adds a new connection. */
  add(socket: Socket): void;
  of(socket: Duplex): Connection | undefined;
}

export function createConnections(): Connections {
  // A record can be found after its socket is closed, because the current answer ends later.
  const records = new WeakMap<Duplex, Connection>();
  const open = new Set<Connection>();
  return {
    add(socket) {
      const connection: Connection = { socket, answer: undefined, waiting: [], isPausing: false };
      records.set(socket, connection);
      open.add(connection);
      socket.once('close', () => open.delete(connection));
    },
    of: (socket) => records.get(socket),
    [Symbol.iterator]: () => open.values(),
  };
}

/** Returns the answer to the last request that arrived on a connection, if it has not been sent. */
export const lastAnswer = ({ answer, waiting }: Connection): ServerResponse | undefined =>
  waiting.at(-1)?.response ?? answer;
