import type pg from 'pg';
import { CommandFailure } from '../failure.ts';
import type { CommandParts } from '../run-command.ts';
import { commandPrefix, connectClient } from './connect-client.ts';

const key = "hashtext('recordbus.cli')";

/**
 * Takes the lock that lets one command at a time change a deployment, and holds it until the command ends. Throws
 * CommandFailure that names the other command or says that the database does not answer.
 */
export async function holdCommandLock({ name, lifecycle }: CommandParts, databaseUrl: string): Promise<pg.Client> {
  const client = await connectClient(name, databaseUrl);
  lifecycle.onStop('command lock', () => client.end());
  const { rows } = await client.query<{ locked: boolean }>(`select pg_try_advisory_lock(${key}) as locked`);
  if (rows[0]?.locked) return client;
  throw new CommandFailure(`Another command is using this database${await findOther(client)}: wait until it is done.`);
}

async function findOther(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ name: string; pid: number }>(
    `select application_name as name, pid from pg_stat_activity
     where application_name like '${commandPrefix}%' and pid in (
       select pid from pg_locks where locktype = 'advisory' and granted and objid = (${key}::bigint & 4294967295)::oid
     )`,
  );
  const [other] = rows;
  return other ? ` (${other.name.slice(commandPrefix.length)}, connection ${other.pid})` : '';
}
