import pg from 'pg';
import { description } from '../seed.ts';

/** Concurrent statements: as many as the product has connections for writes. */
const connectionCount = 20;

/**
 * Runs a statement that inserts a post without HTTP, repeatedly on each connection, as pgbench does. Returns the number
 * per second.
 */
export async function runStatementLoop(
  databaseUrl: string,
  { insert, author, seconds }: { insert: string; author: string; seconds: number },
): Promise<number> {
  const statement = { name: 'create', text: insert };
  const values = ['A looped post', description, true, author];
  const clients = Array.from({ length: connectionCount }, () => new pg.Client({ connectionString: databaseUrl }));
  await Promise.all(clients.map((client) => client.connect()));
  await Promise.all(clients.map((client) => client.query({ ...statement, values })));
  let count = 0;
  const startedAtMs = performance.now();
  const endAtMs = startedAtMs + seconds * 1000;
  await Promise.all(
    clients.map(async (client) => {
      while (performance.now() < endAtMs) {
        await client.query({ ...statement, values });
        count += 1;
      }
    }),
  );
  const tookSec = (performance.now() - startedAtMs) / 1000;
  await Promise.all(clients.map((client) => client.end()));
  return count / tookSec;
}
