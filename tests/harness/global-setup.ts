import type { Server } from './server.ts';
import { startNats, startPostgres } from './servers.ts';

let servers: Server[] = [];

/** Before a whole run: one database server and one bus for every test that does not hurt them. */
export async function globalSetup(): Promise<void> {
  const [postgres, nats] = await Promise.all([startPostgres(), startNats()]);
  servers = [postgres, nats];
  process.env.TEST_DATABASE_URL ??= postgres.url;
  process.env.TEST_NATS_URL ??= nats.url;
}

/** After the run. */
export async function globalTeardown(): Promise<void> {
  await Promise.all(servers.map((server) => server.remove()));
}
