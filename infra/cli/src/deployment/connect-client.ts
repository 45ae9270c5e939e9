import pg from 'pg';
import { CommandFailure } from '../failure.ts';

const applicationName = (command: string): string => `recordbus cli ${command}`;

/** The part of a connection's name that all commands share. */
export const commandPrefix = applicationName('');

/** A connection of the command's own. Throws a sentence when the database does not answer. */
export async function connectClient(command: string, databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: applicationName(command),
    connectionTimeoutMillis: 5000,
    keepAlive: true,
  });
  // A connection that is lost fails the query on it; without a listener it would be an error nobody caught.
  client.on('error', () => {});
  try {
    await client.connect();
  } catch (error) {
    const { host } = new URL(databaseUrl);
    throw new CommandFailure(`The database at ${host} does not answer: ${reasonOf(error)}.`);
  }
  return client;
}

/** An error of several addresses has its reasons inside. */
const reasonOf = (error: unknown): string => {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ');
  return error instanceof Error ? error.message : String(error);
};
