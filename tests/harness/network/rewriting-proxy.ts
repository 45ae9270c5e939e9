import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A proxy that changes a server's answers, to simulate another version or a wrong clock. */
interface RewritingProxy extends AsyncDisposable {
  readonly url: string;
}

/** Starts a proxy on a free port. `rewrite` gets each chunk of an answer, with one character for each byte. */
export async function startRewritingProxy(
  serverUrl: string,
  rewrite: (answer: string) => string,
): Promise<RewritingProxy> {
  const { hostname, port } = new URL(serverUrl);
  const sockets = new Set<Socket>();
  const proxy = createServer((socket) => {
    const server = connect(Number(port), hostname);
    for (const [end, other] of [
      [socket, server],
      [server, socket],
    ] as const) {
      sockets.add(end);
      end.on('error', () => {});
      end.on('close', () => other.destroy());
    }
    socket.pipe(server);
    server.on('data', (bytes) => socket.write(rewrite(bytes.toString('latin1')), 'latin1'));
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const address = proxy.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  return {
    url: Object.assign(new URL(serverUrl), { hostname: '127.0.0.1', port: String(address.port) }).href,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}
