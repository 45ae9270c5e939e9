import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { startEmbeddedNats } from './embedded-nats.ts';
import { startEmbeddedPostgres } from './embedded-postgres.ts';
import type { Server } from './server.ts';

const inContainers = process.env.TEST_STACK === 'containers';

/** Starts a PostgreSQL server that one test may stop and kill; in a container with TEST_STACK=containers. */
export const startPostgres = async (): Promise<Server> =>
  inContainers ? (await import('./containers.ts')).startPostgresContainer() : startEmbeddedPostgres();

/** Starts a nats-server with JetStream, likewise. Each stack has one: the stream EVENTS is one per server. */
export const startNats = async (): Promise<Server> =>
  inContainers ? (await import('./containers.ts')).startNatsContainer() : startEmbeddedNats();

/** A database of a test file's own. */
export interface Database {
  readonly url: string;
  drop(): Promise<void>;
}

let ownServer: Promise<Server> | undefined;
let openDatabases = 0;

/** Makes an empty database on the server that the run shares (TEST_DATABASE_URL), else on one that this file starts. */
export async function createDatabase(): Promise<Database> {
  const shared = process.env.TEST_DATABASE_URL;
  if (!shared) ownServer ??= startPostgres();
  const serverUrl = shared ?? (await ownServer)?.url ?? '';
  const name = `test_${randomBytes(6).toString('hex')}`;
  await execute(serverUrl, `create database ${name}`);
  openDatabases += 1;
  return {
    url: Object.assign(new URL(serverUrl), { pathname: `/${name}` }).href,
    async drop() {
      await execute(serverUrl, `drop database ${name} with (force)`);
      openDatabases -= 1;
      if (openDatabases > 0) return;
      const server = ownServer;
      ownServer = undefined;
      await (await server)?.remove();
    },
  };
}

async function execute(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
