import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { createServer as createVite } from 'vite';

/** The app's page, served from its sources. */
interface ServedPage extends AsyncDisposable {
  readonly url: string;
}

/** Serves the page for a stack. Vite translates its TypeScript; its own server would end the program at a signal. */
export async function servePage(stackUrl: string, port: number): Promise<ServedPage> {
  process.env.VITE_STACK_URL = stackUrl;
  const server = createServer();
  const vite = await createVite({
    root: join(import.meta.dirname, '../page'),
    configFile: false,
    logLevel: 'error',
    server: { middlewareMode: true, hmr: { server } },
  });
  server.on('request', vite.middlewares);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await vite.close();
    },
  };
}
