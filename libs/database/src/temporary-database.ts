import { randomBytes } from 'node:crypto';
import { createLogger } from '@recordbus/shared/logging';
import pg from 'pg';
import { type Database, openDatabase } from './database.ts';

/** A database for the tests of one file. */
export interface TemporaryDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/** One that is open, with every migration run. */
export interface OpenTemporaryDatabase {
  readonly url: string;
  readonly database: Database;
  /** Closes and drops it. */
  remove(): Promise<void>;
}

/** Why tests of the database are skipped, or false when TEST_DATABASE_URL names a server to run them on. */
export const skipWithoutDatabase = process.env.TEST_DATABASE_URL ? false : 'TEST_DATABASE_URL is not set';

/** Makes an empty database on a server whose URL may make them (TEST_DATABASE_URL). */
export async function createTemporaryDatabase(serverUrl: string): Promise<TemporaryDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await execute(serverUrl, `create database ${name}`);
  return {
    url: Object.assign(new URL(serverUrl), { pathname: `/${name}` }).href,
    drop: () => execute(serverUrl, `drop database ${name} with (force)`),
  };
}

/** Makes a database on the server of TEST_DATABASE_URL and opens it as a service would. */
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

async function execute(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
