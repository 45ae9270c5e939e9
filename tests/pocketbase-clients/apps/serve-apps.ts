import { createReadStream } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

const files: Readonly<Record<string, readonly [type: string, path: string]>> = {
  ...Object.fromEntries(
    ['board', 'notes', 'reader'].map((name) => [
      `/${name}.html`,
      ['text/html', fileURLToPath(new URL(`${name}.html`, import.meta.url))],
    ]),
  ),
  '/pocketbase.js': ['text/javascript', fileURLToPath(import.meta.resolve('pocketbase'))],
};

/** Serves the example apps and PocketBase's official client on a free port. */
export async function serveApps(): Promise<{ readonly origin: string } & AsyncDisposable> {
  const server = createServer(({ url = '' }, response) => {
    const [type, path] = files[url.split('?')[0] ?? ''] ?? [];
    if (type === undefined || path === undefined) {
      response.writeHead(404).end();
      return;
    }
    response.setHeader('Content-Type', type);
    createReadStream(path).pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
