import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A proxy that a test can cut off, like a network between a client and a server. */
interface CutProxy extends AsyncDisposable {
  readonly url: string;
  /** Cuts every connection, and each further one at once. */
  cut(): void;
  restore(): void;
}

/** Starts a proxy in front of a server on a free port. */
export async function startCutProxy(serverUrl: string): Promise<CutProxy> {
  const { hostname, port } = new URL(serverUrl);
  const sockets = new Set<Socket>();
  let isCut = false;
  const proxy = createServer((socket) => {
    socket.on('error', () => {});
    if (isCut) return void socket.destroy();
    const server = connect(Number(port), hostname);
    server.on('error', () => {});
    for (const [end, other] of [
      [socket, server],
      [server, socket],
    ] as const) {
      sockets.add(end);
      end.pipe(other);
      end.on('close', () => {
        sockets.delete(end);
        other.destroy();
      });
    }
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const address = proxy.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  const cutAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${address.port}`,
    cut() {
      isCut = true;
      cutAll();
    },
    restore() {
      isCut = false;
    },
    async [Symbol.asyncDispose]() {
      cutAll();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}
