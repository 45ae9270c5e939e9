import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { type Link, passOn } from './shaped-link.ts';

/** A proxy that a test can cut off or slow down, like a network between a client and a server. */
export interface CutProxy extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Cuts every connection, and each new one at once. */
  cut(): void;
  /** Holds all bytes: connections stay open, and new ones open, but no byte passes. */
  stall(): void;
  /** Slows down new and open connections. */
  slow(link: Link): void;
  /**
   * Forgets every open connection, as a firewall does: both ends stay open, and neither notices that no byte passes any
   * more. New connections work.
   */
  forget(): void;
  /** Ends all these faults, except that forgotten connections stay dead. Bytes that a stall held pass now. */
  restore(): void;
}

/** Starts a proxy in front of a server, on a free port or a given one. */
export async function startCutProxy(serverUrl: string, ownPort = 0): Promise<CutProxy> {
  const { hostname, port } = new URL(serverUrl);
  const sockets = new Set<Socket>();
  const forgotten = new Set<Socket>();
  let state: 'open' | 'cut' | 'stalled' = 'open';
  let link: Link = {};
  const proxy = createServer((socket) => {
    socket.on('error', () => {});
    if (state === 'cut') return void socket.destroy();
    const server = connect(Number(port), hostname);
    server.on('error', () => {});
    for (const [end, other] of [
      [socket, server],
      [server, socket],
    ] as const) {
      sockets.add(end);
      const close = passOn(end, other, { link: () => link, mayPass: () => state !== 'stalled' && !forgotten.has(end) });
      end.on('close', () => {
        sockets.delete(end);
        if (!forgotten.delete(end)) close();
      });
      if (state === 'stalled') end.pause();
    }
  });
  proxy.listen(ownPort, '127.0.0.1');
  await once(proxy, 'listening');
  const address = proxy.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  const cutAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    cut() {
      state = 'cut';
      cutAll();
    },
    stall() {
      state = 'stalled';
      for (const socket of sockets) socket.pause();
    },
    slow(given) {
      link = given;
    },
    forget() {
      for (const socket of sockets) {
        forgotten.add(socket);
        socket.pause();
      }
    },
    restore() {
      state = 'open';
      link = {};
      for (const socket of sockets) if (!forgotten.has(socket)) socket.resume();
    },
    async [Symbol.asyncDispose]() {
      cutAll();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}
