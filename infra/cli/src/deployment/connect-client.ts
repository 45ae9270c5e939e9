import { openCommandSession, PooledSession } from '@recordbus/database';
import { messageOf } from '@recordbus/errors';
import { urlsOfDatabase } from '@recordbus/process/database-urls';
import { CommandFailure } from '@recordbus/stack-calls';
import type pg from 'pg';

/**
 * Opens a connection for a command, to the server that takes writes. Throws CommandFailure when the database does not
 * answer or is behind a pooler, which would leave the command's settings and locks on other clients' connections.
 */
export async function connectClient(command: string, databaseUrl: string): Promise<pg.Client> {
  try {
    return await openCommandSession(command, databaseUrl);
  } catch (error) {
    if (error instanceof PooledSession)
      throw new CommandFailure(
        'The database is behind a pooler, and a command needs its own session: name the server itself in SERVICE_DATABASE_URL.',
      );
    throw new CommandFailure(`The database at ${hostsOf(databaseUrl)} does not answer: ${messageOf(error)}.`);
  }
}

const hostsOf = (databaseUrl: string): string =>
  (urlsOfDatabase(databaseUrl) ?? []).map((url) => new URL(url).host).join(', ');
