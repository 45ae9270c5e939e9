import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

// Product internals with which the bench fills 100,000 rows in seconds and runs the bare server on the same tables.
// Everything else uses the API.

/** The table that holds a collection's records. */
export const tableOf = (collection: string): string => `records."${collection}"`;

/** The table into which every write inserts its event. */
export const outboxTable = 'system.outbox';

/** Returns the URL of the PostgreSQL that a stack started in its data directory. */
export async function findDatabaseUrl(dataDirectory: string): Promise<string> {
  const home = join(dataDirectory, 'postgres');
  const password = (await readFile(join(home, 'password'), 'utf8')).trim();
  const port = (await readFile(join(home, 'cluster', 'postmaster.pid'), 'utf8')).split('\n')[3]?.trim();
  return `postgres://recordbus:${password}@127.0.0.1:${port}/recordbus`;
}

/** Returns that PostgreSQL's process id. */
export async function findDatabaseProcess(dataDirectory: string): Promise<number> {
  return Number((await readFile(join(dataDirectory, 'postgres', 'cluster', 'postmaster.pid'), 'utf8')).split('\n')[0]);
}
