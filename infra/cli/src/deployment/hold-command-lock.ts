import pg from 'pg';
import { CommandFailure } from '../failure.ts';
import type { CommandParts } from '../run-command.ts';

const applicationName = (command: string): string => `recordbus cli ${command}`;

/** The part of a connection's name that all commands share. */
export const commandPrefix = applicationName('');

const key = "hashtext('recordbus.cli')";

/**
 * Sees to it that one command at a time changes a deployment, wherever they are run, until this one has ended. Throws a
 * sentence that names the other, or says that the database does not answer.
 */
export async function holdCommandLock({ name, lifecycle }: CommandParts, databaseUrl: string): Promise<pg.Client> {
  const client = await connectClient(name, databaseUrl);
  lifecycle.onStop('command lock', () => client.end());
  const { rows } = await client.query<{ locked: boolean }>(`select pg_try_advisory_lock(${key}) as locked`);
  if (rows[0]?.locked) return client;
  throw new CommandFailure(
    `Another command is at work on this database${await findOther(client)}: wait until it is done.`,
  );
}

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
