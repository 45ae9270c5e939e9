import { ConfigError, databaseUrl } from '@recordbus/process/config';
import pg from 'pg';
import { isDatabaseError, sqlState } from '../errors.ts';

/** How long the check may take, in milliseconds. It never ends behind a pooler with a single connection. */
const patienceMs = 2000;

const prepared = { name: 'database.prepared', text: 'select 1' };

/**
 * Throws ConfigError if a pooler forgets its clients' prepared statements when it gives them another server connection.
 */
export async function requirePreparedStatements(url: string): Promise<void> {
  const options = { connectionString: url, connectionTimeoutMillis: patienceMs, query_timeout: patienceMs };
  const [client, other] = [new pg.Client(options), new pg.Client(options)];
  for (const one of [client, other]) one.on('error', () => {});
  try {
    await Promise.all([client.connect(), other.connect()]);
    await client.query(prepared);
    // The other client takes the connection on which the statement was prepared.
    await other.query('begin');
    await client.query(prepared);
  } catch (error) {
    if (isDatabaseError(error, sqlState.unknownStatement))
      throw new ConfigError(
        `The pooler at ${databaseUrl.name} forgets prepared statements: use PgBouncer 1.21 or newer with max_prepared_statements above 0.`,
      );
  } finally {
    for (const one of [client, other]) one.connection.stream.destroy();
  }
}
