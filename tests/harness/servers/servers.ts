import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { startEmbeddedNats } from './embedded-nats.ts';
import { startEmbeddedPostgres } from './embedded-postgres.ts';
import { startNatsCluster } from './nats-cluster.ts';
import { type PgBouncer, startPgBouncer } from './pgbouncer.ts';
import type { Server } from './server.ts';

const inContainers = process.env.TEST_STACK === 'containers';

/** Whether the product reaches its databases through PgBouncer, which pools by transaction. */
export const isPooled = process.env.TEST_DATABASE === 'pgbouncer';

/** Starts a PostgreSQL server that one test may stop and kill; in a container with TEST_STACK=containers. */
export const startPostgres = async (): Promise<Server> =>
  inContainers ? (await import('./containers.ts')).startPostgresContainer() : startEmbeddedPostgres();

/** Whether a stack's bus is a NATS cluster with three servers, whose stream has three replicas. */
const isCluster = process.env.TEST_BUS === 'cluster';

/** Starts such a nats-server with JetStream. Each stack needs its own, since a server has one stream EVENTS. */
export async function startNats(): Promise<Server> {
  if (inContainers) return (await import('./containers.ts')).startNatsContainer();
  return isCluster ? (await startNatsCluster()).bus : startEmbeddedNats();
}

/** A database for one test file. */
export interface Database {
  readonly url: string;
  /** Its address without PgBouncer, which commands need; by default the same. */
  readonly directUrl?: string;
  /** As its server's superuser. */
  readonly superuserUrl?: string;
  drop(): Promise<void>;
}

let ownServer: Promise<Server> | undefined;
let ownPooler: Promise<PgBouncer> | undefined;
let openDatabases = 0;

/** Creates an empty database on the shared server (TEST_DATABASE_URL), or on one that this file starts. */
export async function createDatabase(): Promise<Database> {
  const shared = process.env.TEST_DATABASE_URL;
  if (!shared) ownServer ??= startPostgres();
  const serverUrl = shared ?? (await ownServer)?.url ?? '';
  const name = `test_${randomBytes(6).toString('hex')}`;
  // As with npm start and compose: the services own the database and use a read-only role.
  const password = randomBytes(12).toString('hex');
  await execute(serverUrl, `create role ${name}_owner login password '${password}'`);
  await execute(serverUrl, `create role ${name}_reader`);
  await execute(serverUrl, `grant ${name}_reader to ${name}_owner`);
  await execute(serverUrl, `create database ${name} owner ${name}_owner`);
  openDatabases += 1;
  const url = Object.assign(new URL(serverUrl), { pathname: `/${name}`, username: `${name}_owner`, password }).href;
  if (isPooled) ownPooler ??= startPgBouncer(serverUrl);
  return {
    url: (await (await ownPooler)?.through(url)) ?? url,
    directUrl: url,
    superuserUrl: Object.assign(new URL(serverUrl), { pathname: `/${name}` }).href,
    async drop() {
      await execute(serverUrl, `drop database ${name} with (force)`);
      for (const role of ['reader', 'owner', 'analyst'])
        await execute(serverUrl, `drop role if exists ${name}_${role}`);
      openDatabases -= 1;
      if (openDatabases > 0) return;
      const pooler = ownPooler;
      ownPooler = undefined;
      await (await pooler)?.[Symbol.asyncDispose]();
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
