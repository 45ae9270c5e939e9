import { createHash, randomBytes } from 'node:crypto';
import { createLogger } from '@recordbus/process/logging';
import pg from 'pg';
import { locks } from './advisory-locks.ts';
import { type Database, openDatabase } from './database.ts';
import { ownMigrations } from './migrations/migrations.ts';

/** A database for one file's tests. */
export interface TemporaryDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/** An open database with all migrations. */
export interface OpenTemporaryDatabase {
  readonly url: string;
  readonly database: Database;
  /** Closes and drops it. */
  remove(): Promise<void>;
}

/** Why tests with a database are skipped; false when TEST_DATABASE_URL names a server. */
export const skipWithoutDatabase = process.env.TEST_DATABASE_URL ? false : 'TEST_DATABASE_URL is not set';

/** Creates an empty database on the server at a URL whose role may create databases (TEST_DATABASE_URL). */
export const createEmptyDatabase = (serverUrl: string): Promise<TemporaryDatabase> => create(serverUrl, 'template1');

/** Creates a database with all migrations on such a server. */
export const createTemporaryDatabase = async (serverUrl: string): Promise<TemporaryDatabase> =>
  create(serverUrl, await ensureTemplate(serverUrl));

/** Creates a database on the server at TEST_DATABASE_URL and opens it as a service would. */
export async function openTemporaryDatabase(): Promise<OpenTemporaryDatabase> {
  const { url, drop } = await createTemporaryDatabase(process.env.TEST_DATABASE_URL ?? '');
  const database = await openDatabase({ url, name: 'test', log: createLogger('test', 'silent') }).catch(
    async (error) => {
      await drop();
      throw error;
    },
  );
  return {
    url,
    database,
    async remove() {
      await database.close();
      await drop();
    },
  };
}

async function create(serverUrl: string, template: string): Promise<TemporaryDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  // Copying the files takes a quarter of the processor time that a copy through the log takes.
  await withClient(serverUrl, (client) =>
    client.query(`create database ${name} template ${template} strategy file_copy`),
  );
  return {
    url: Object.assign(new URL(serverUrl), { pathname: `/${name}` }).href,
    async drop() {
      await withClient(serverUrl, (client) => client.query(`drop database ${name} with (force)`));
    },
  };
}

const statements = ownMigrations.names.map(ownMigrations.read).join('\n');

/** The template's name. It depends on the migrations, so other migrations have another template. */
const template = `test_template_${createHash('sha256').update(statements).digest('hex').slice(0, 12)}`;

/** Creates the template once for all test files on a server: a copy takes a fraction of the migrations' time. */
const ensureTemplate = (serverUrl: string): Promise<string> =>
  withClient(serverUrl, async (client) => {
    // Held until the client disconnects.
    await client.query(`select pg_advisory_lock(${locks.testTemplate})`, [template]);
    const { rowCount } = await client.query('select from pg_database where datname = $1', [template]);
    if (rowCount) return template;
    const { url } = await createEmptyDatabase(serverUrl);
    const database = await openDatabase({ url, name: 'test', log: createLogger('test', 'silent') });
    await database.close();
    await client.query(`alter database ${new URL(url).pathname.slice(1)} rename to ${template}`);
    return template;
  });

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
