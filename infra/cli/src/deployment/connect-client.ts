import pg from 'pg';
import { CommandFailure } from '../failure.ts';

const applicationName = (command: string): string => `recordbus cli ${command}`;

/** The prefix of the application names of all commands. */
export const commandPrefix = applicationName('');

/** Opens a connection for a command. Throws CommandFailure when the database does not answer. */
export async function connectClient(command: string, databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: applicationName(command),
    connectionTimeoutMillis: 5000,
    keepAlive: true,
  });
  // A lost connection fails its query. Without a listener the event would be an uncaught error.
  client.on('error', () => {});
  try {
    await client.connect();
  } catch (error) {
    const { host } = new URL(databaseUrl);
    throw new CommandFailure(`The database at ${host} does not answer: ${reasonOf(error)}.`);
  }
  return client;
}

/** Returns the message of an error. A name with several addresses gives an AggregateError. */
const reasonOf = (error: unknown): string => {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ');
  return error instanceof Error ? error.message : String(error);
};
