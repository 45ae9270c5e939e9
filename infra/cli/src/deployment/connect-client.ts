import { urlOfPrimary } from '@recordbus/database';
import { urlsOfDatabase } from '@recordbus/shared/database-urls';
import pg from 'pg';
import { CommandFailure } from '../failure.ts';

const applicationName = (command: string): string => `recordbus cli ${command}`;

/** The prefix of the application names of all commands. */
export const commandPrefix = applicationName('');

/**
 * Opens a connection for a command, of several servers to the one that takes writes. Throws CommandFailure when the
 * database does not answer, or a pooler is between: settings and locks of a command would stay on connections of others.
 */
export async function connectClient(command: string, databaseUrl: string): Promise<pg.Client> {
  const name = applicationName(command);
  try {
    const client = new pg.Client({
      connectionString: await urlOfPrimary(databaseUrl, name),
      application_name: name,
      connectionTimeoutMillis: 5000,
      keepAlive: true,
    });
    // A lost connection fails its query. Without a listener the event would be an uncaught error.
    client.on('error', () => {});
    await client.connect();
    if (await isPooled(client)) {
      await client.end();
      throw new CommandFailure(
        'The database is behind a pooler, and a command needs a session of its own: name the server itself in SERVICE_DATABASE_URL.',
      );
    }
    return client;
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    throw new CommandFailure(`The database at ${hostsOf(databaseUrl)} does not answer: ${reasonOf(error)}.`);
  }
}

/** A pooler gives a connection another process id than that of the server's process. */
async function isPooled(client: pg.Client & { readonly processID?: number | null }): Promise<boolean> {
  const { rows } = await client.query<{ id: number }>('select pg_backend_pid() as id');
  return rows[0]?.id !== client.processID;
}

const hostsOf = (databaseUrl: string): string =>
  (urlsOfDatabase(databaseUrl) ?? []).map((url) => new URL(url).host).join(', ');

/** Returns the message of an error. A name with several addresses gives an AggregateError. */
const reasonOf = (error: unknown): string => {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ');
  return error instanceof Error ? error.message : String(error);
};
