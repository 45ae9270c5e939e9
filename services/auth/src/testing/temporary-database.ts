import { randomBytes } from 'node:crypto';
import { type Database, openDatabase } from '@recordbus/database';
import { createLogger } from '@recordbus/shared/logging';
import pg from 'pg';

interface TemporaryDatabase {
  readonly database: Database;
  remove(): Promise<void>;
}

/** Why database tests are skipped, or false when TEST_DATABASE_URL names a server to run them on. */
export const skipWithoutDatabase = process.env.TEST_DATABASE_URL ? false : 'TEST_DATABASE_URL is not set';

/** Makes a database of its own on the server that TEST_DATABASE_URL names. */
export async function openTemporaryDatabase(): Promise<TemporaryDatabase> {
  const server = process.env.TEST_DATABASE_URL ?? '';
  const name = `auth_test_${randomBytes(6).toString('hex')}`;
  const run = async (sql: string) => {
    const client = new pg.Client({ connectionString: server });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  };
  await run(`create database ${name}`);
  const url = new URL(server);
  url.pathname = name;
  const database = await openDatabase({ url: url.href, name: 'test', log: createLogger('test', 'silent') });
  return {
    database,
    async remove() {
      await database.close();
      await run(`drop database ${name} with (force)`);
    },
  };
}
