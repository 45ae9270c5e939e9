import pg from 'pg';
import { locks } from './advisory-locks.ts';
import { urlOfPrimary } from './servers/find-primary.ts';
import { isPooled } from './servers/server-state.ts';

const applicationName = (command: string): string => `recordbus cli ${command}`;

/** Every command session's application name begins with this. */
export const commandPrefix = applicationName('');

/** Thrown for a database behind a pooler, where a command's settings and locks would stay on shared connections. */
export class PooledSession extends Error {}

/** Opens a session for a command, on the server that takes writes. Throws PooledSession. */
export async function openCommandSession(command: string, databaseUrl: string): Promise<pg.Client> {
  const name = applicationName(command);
  const client = new pg.Client({
    connectionString: await urlOfPrimary(databaseUrl, name),
    application_name: name,
    connectionTimeoutMillis: 5000,
    keepAlive: true,
  });
  // A lost connection fails its query. Without a listener the event would be an uncaught error.
  client.on('error', () => {});
  await client.connect();
  const { rows } = await client.query<{ id: number }>('select pg_backend_pid() as id');
  if (rows[0] && !isPooled(client, rows[0].id)) return client;
  await client.end();
  throw new PooledSession('the database is behind a pooler');
}

/** SQL: the process id of the session that holds this database's command lock; no row without one. */
const holder = `select l.pid from pg_locks l join pg_database d on d.oid = l.database
  where l.locktype = 'advisory' and l.granted and d.datname = current_database()
    and l.objid = (${locks.commands}::bigint & 4294967295)::oid`;

/** SQL: whether a command holds the lock. */
export const commandIsRunning = `exists (${holder})`;

/**
 * Takes the lock that lets one command at a time change a deployment, until the session ends. Returns undefined, or the
 * name of the command that holds the lock. The name is empty if that command has just ended.
 */
export async function takeCommandLock(client: pg.Client): Promise<string | undefined> {
  const { rows } = await client.query<{ locked: boolean }>(`select pg_try_advisory_lock(${locks.commands}) as locked`);
  return rows[0]?.locked ? undefined : findOther(client);
}

async function findOther(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ name: string; pid: number }>(
    `select application_name as name, pid from pg_stat_activity
     where application_name like '${commandPrefix}%' and pid in (${holder})`,
  );
  const [other] = rows;
  return other ? `${other.name.slice(commandPrefix.length)}, connection ${other.pid}` : '';
}
