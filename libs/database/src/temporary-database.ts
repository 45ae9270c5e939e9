import { randomBytes } from 'node:crypto';
import pg from 'pg';

/** A database for the tests of one file. */
export interface TemporaryDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/** Makes an empty database on a server whose URL may make them (TEST_DATABASE_URL). */
export async function createTemporaryDatabase(serverUrl: string): Promise<TemporaryDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await execute(serverUrl, `create database ${name}`);
  return {
    url: Object.assign(new URL(serverUrl), { pathname: `/${name}` }).href,
    drop: () => execute(serverUrl, `drop database ${name} with (force)`),
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
