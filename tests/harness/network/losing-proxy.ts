import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A proxy passes an answer on, loses it, or replaces it. */
type Fate = 'pass' | 'lose' | { readonly status: number; readonly headers?: Readonly<Record<string, string>> };

interface LosingProxy extends AsyncDisposable {
  readonly url: string;
  /** Each request's method and path, in order. */
  readonly requests: readonly string[];
}

/**
 * Starts a proxy that loses answers, as a network does: the server has done the work, and the connection breaks. A
 * status is answered without asking the server. `fateOf` gets each request and its number, from 1.
 */
export async function startLosingProxy(
  serverUrl: string,
  fateOf: (request: string, number: number) => Fate,
): Promise<LosingProxy> {
  const requests: string[] = [];
  const proxy = createServer(async (incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming;
    const fate = fateOf(`${method} ${url}`, requests.push(`${method} ${url}`));
    const body = await buffer(incoming);
    if (typeof fate === 'object') {
      outgoing.writeHead(fate.status, fate.headers).end('<html>a proxy</html>');
      return;
    }
    const forwarded = request(`${serverUrl}${url}`, { method, headers, agent: false }, async (answer) => {
      const received = await buffer(answer);
      if (fate === 'lose') outgoing.destroy();
      else outgoing.writeHead(answer.statusCode ?? 500, answer.headers).end(received);
    });
    forwarded.on('error', () => outgoing.destroy());
    forwarded.end(body);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    requests,
    async [Symbol.asyncDispose]() {
      proxy.closeAllConnections();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}
