import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A proxy that a test can cut off, like a network between a client and a server. */
export interface CutProxy extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Cuts every connection, and each further one at once. */
  cut(): void;
  /** Loses what is sent: connections stay open, and new ones open, but no byte passes. */
  stall(): void;
  /** Ends both. What a stall held back passes. */
  restore(): void;
}

/** Starts a proxy in front of a server, on a free port or a given one. */
export async function startCutProxy(serverUrl: string, ownPort = 0): Promise<CutProxy> {
  const { hostname, port } = new URL(serverUrl);
  const sockets = new Set<Socket>();
  let state: 'open' | 'cut' | 'stalled' = 'open';
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
      end.on('data', (chunk) => {
        if (!other.write(chunk)) end.pause();
      });
      other.on('drain', () => {
        if (state !== 'stalled') end.resume();
      });
      end.on('end', () => other.end());
      end.on('close', () => {
        sockets.delete(end);
        other.destroy();
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
    restore() {
      state = 'open';
      for (const socket of sockets) socket.resume();
    },
    async [Symbol.asyncDispose]() {
      cutAll();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}
