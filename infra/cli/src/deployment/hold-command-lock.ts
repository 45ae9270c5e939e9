import { takeCommandLock } from '@recordbus/database';
import { CommandFailure } from '@recordbus/stack-calls';
import type pg from 'pg';
import type { CommandParts } from '../run-command.ts';
import { connectClient } from './connect-client.ts';

/**
 * Takes the lock that lets one command at a time change a deployment, and holds it until the command ends. Throws
 * CommandFailure that names the other command or says that the database does not answer.
 */
export async function holdCommandLock({ name, lifecycle }: CommandParts, databaseUrl: string): Promise<pg.Client> {
  const client = await connectClient(name, databaseUrl);
  lifecycle.onStop('command lock', () => client.end());
  const other = await takeCommandLock(client);
  if (other === undefined) return client;
  throw new CommandFailure(`Another command is using this database${other && ` (${other})`}: wait until it is done.`);
}
