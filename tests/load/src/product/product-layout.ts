import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

// What the bench knows of the product's inside, so that it can fill 100,000 rows in seconds and put the bare server on
// the same tables. Everything else goes through the API.

/** The table that holds the records of a collection. */
export const tableOf = (collection: string): string => `records."${collection}"`;

/** The table into which every writing statement puts its event. */
export const outboxTable = 'system.outbox';

/** Where the PostgreSQL that a stack started under its data directory listens. */
export async function findDatabaseUrl(dataDirectory: string): Promise<string> {
  const home = join(dataDirectory, 'postgres');
  const password = (await readFile(join(home, 'password'), 'utf8')).trim();
  const port = (await readFile(join(home, 'cluster', 'postmaster.pid'), 'utf8')).split('\n')[3]?.trim();
  return `postgres://recordbus:${password}@127.0.0.1:${port}/recordbus`;
}
