import { join } from 'node:path';
import { type StackNote, startNats, startPostgres } from '@recordbus/embedded';
import type { Lifecycle } from '@recordbus/process/lifecycle';
import type { Logger } from '@recordbus/process/logging';

interface ServerOptions {
  readonly dataDirectory: string;
  readonly databaseUrl: string | undefined;
  readonly natsUrl: string | undefined;
  readonly log: Logger;
  readonly lifecycle: Lifecycle;
}

interface Servers {
  readonly databaseUrl: string;
  readonly natsUrl: string;
  /** The addresses of servers that were started here. */
  readonly embedded: Pick<StackNote, 'databaseUrl' | 'natsUrl'>;
}

/**
 * Starts the database and the bus below the data directory, each unless the configuration names an external one. When
 * one dies, the whole stack stops with exit code 1.
 */
export async function startServers(options: ServerOptions): Promise<Servers> {
  const { dataDirectory, log, lifecycle } = options;
  const own = async (name: string, start: typeof startPostgres) => {
    const server = await start({ directory: join(dataDirectory, name), log });
    lifecycle.onStop(name, () => server.stop());
    void server.exited.then((how) => {
      log.fatal({ server: name, how }, 'an embedded server died');
      // The last line on the terminal, below all services' messages.
      process.once('exit', () => process.stderr.write(`${how}\nNothing works without it, so the rest stopped too.\n`));
      return lifecycle.stop(`${name} died`, 1);
    });
    return server.url;
  };
  const [databaseUrl, natsUrl] = await Promise.all([
    options.databaseUrl ?? own('postgres', startPostgres),
    options.natsUrl ?? own('nats', startNats),
  ]);
  const embedded = {
    databaseUrl: options.databaseUrl === undefined ? databaseUrl : undefined,
    natsUrl: options.natsUrl === undefined ? natsUrl : undefined,
  };
  return { databaseUrl, natsUrl, embedded };
}
