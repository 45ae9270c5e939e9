import { oldestServerVersion, type TableVersion } from '@recordbus/database';
import type pg from 'pg';
import { broken, type Finding, fine, warning } from './finding.ts';

/** Doctor warns when a table has more dead rows than this, and more than live ones. */
const deadRows = 100_000;
/** The oldest unfrozen transaction id's age; PostgreSQL's limit is about two thousand million. */
const manyTransactions = 1_000_000_000;
const longTransactionSec = 3600;

interface ServerRow {
  readonly encoding: string;
  readonly stale_collation: boolean;
  readonly age: number;
  readonly connections: number;
  readonly max_connections: number;
  readonly megabytes: number;
  readonly oldest_transaction_sec: number;
}

/** Examines the server and the database as a whole. */
export async function examineServer(client: pg.Client): Promise<Finding[]> {
  const { version, number } = await versionOf(client);
  // An older server lacks columns that the next query reads.
  if (number < oldestServerVersion)
    return [broken('PostgreSQL', `version ${version}`, `Use PostgreSQL ${oldestServerVersion / 10_000} or newer.`)];
  const { rows } = await client.query<ServerRow>(`
    select pg_encoding_to_char(encoding) as encoding, age(datfrozenxid) as age,
      coalesce(datcollversion <> pg_database_collation_actual_version(oid), false) as stale_collation,
      (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as connections,
      current_setting('max_connections')::int as max_connections,
      (pg_database_size(oid) / 1048576)::int as megabytes,
      coalesce((select max(extract(epoch from now() - xact_start))::int from pg_stat_activity
        where datid = d.oid and pid <> pg_backend_pid()), 0) as oldest_transaction_sec
    from pg_database d where datname = current_database()`);
  const [server] = rows;
  if (!server) throw new Error('the database returned no row');
  const findings = [fine('PostgreSQL', `version ${version}, ${server.megabytes} MiB`)];
  const { connections, max_connections } = server;
  const used = `${connections} of ${max_connections} connections are in use`;
  findings.push(
    connections > max_connections * 0.8
      ? warning('connections', used, 'Raise max_connections, or run fewer replicas (docs/cost-budget.md).')
      : fine('connections', used),
  );
  if (server.encoding !== 'UTF8')
    findings.push(broken('encoding', `the database is ${server.encoding}`, 'Move to a database with encoding UTF8.'));
  if (server.stale_collation)
    findings.push(
      warning(
        'collation',
        "the system's collation rules are newer than the indexes",
        'REINDEX DATABASE, then ALTER DATABASE … REFRESH COLLATION VERSION.',
      ),
    );
  if (server.age > manyTransactions)
    findings.push(
      warning(
        'transaction ids',
        `${server.age} since the last freeze`,
        'Find out why autovacuum lags, and run VACUUM FREEZE at a quiet hour.',
      ),
    );
  if (server.oldest_transaction_sec > longTransactionSec)
    findings.push(
      warning(
        'transactions',
        `one has been open for ${Math.floor(server.oldest_transaction_sec / 60)} minutes`,
        'Find it in pg_stat_activity: rows that died since then cannot be vacuumed.',
      ),
    );
  return findings;
}

async function versionOf(client: pg.Client): Promise<{ readonly version: string; readonly number: number }> {
  const { rows } = await client.query<{ version: string; number: number }>(
    "select current_setting('server_version') as version, current_setting('server_version_num')::int as number",
  );
  const [server] = rows;
  if (!server) throw new Error('the server returned no version');
  return server;
}

/** Examines whether the tables fit this version. */
export function examineTables(version: TableVersion | undefined): Finding {
  if (!version) return warning('tables', 'there are none yet', 'Start the services: the first one creates them.');
  const { applied, unknown, isTooNew, missing, tooOld } = version;
  if (tooOld) return broken('tables', tooOld.reason, tooOld.remedy);
  if (isTooNew)
    return broken(
      'tables',
      `made by a newer version: ${unknown.join(', ')}`,
      'Run that version, or restore a backup from this version.',
    );
  if (missing.length > 0)
    return warning(
      'tables',
      `older than this version: without ${missing.join(', ')}`,
      'Start the services: they run the missing migrations.',
    );
  if (unknown.length > 0)
    return warning(
      'tables',
      `made by a newer version that only added to them: ${unknown.join(', ')}`,
      'This version works with them, for example until the upgrade is complete.',
    );
  return fine('tables', `up to date (${applied.at(-1)})`);
}

/** Examines dead rows, which take up space. */
export async function examineBloat(client: pg.Client): Promise<Finding[]> {
  const { rows } = await client.query<{ name: string; dead: number; live: number }>(
    `select format('%I.%I', schemaname, relname) as name, n_dead_tup::float8 as dead, n_live_tup::float8 as live
     from pg_stat_user_tables where n_dead_tup > greatest($1::bigint, n_live_tup) order by n_dead_tup desc limit 5`,
    [deadRows],
  );
  return rows.map(({ name, dead, live }) =>
    warning(
      'dead rows',
      `${name} has ${dead}, and ${live} live ones`,
      `Autovacuum is falling behind: run VACUUM ${name}.`,
    ),
  );
}

/** Examines events that wait to be published, and those that were given up. */
export async function examineOutbox(client: pg.Client): Promise<Finding[]> {
  const { rows } = await client.query<{ waiting: number; oldest_sec: number; parked: number }>(
    `select count(*) filter (where parked_at is null)::int as waiting,
       coalesce(max(extract(epoch from clock_timestamp() - created_at)) filter (where parked_at is null), 0)::int as oldest_sec,
       count(*) filter (where parked_at is not null)::int as parked
     from system.outbox where published_at is null`,
  );
  const { waiting, oldest_sec, parked } = rows[0] ?? { waiting: 0, oldest_sec: 0, parked: 0 };
  const says =
    waiting === 0 ? 'every event is on the stream' : `${waiting} events wait, the oldest for ${oldest_sec} s`;
  const findings =
    oldest_sec > 60
      ? [warning('outbox', says, 'No records or auth service runs, or the bus is down, or its stream is full.')]
      : [fine('outbox', says)];
  if (parked > 0)
    findings.push(
      warning(
        'parked events',
        `${parked} could not be published`,
        'Their errors are in system.outbox where parked_at is not null.',
      ),
    );
  return findings;
}

/** Lists the connected services. */
export async function examineReplicas(client: pg.Client): Promise<Finding[]> {
  const { rows } = await client.query<{ name: string; addresses: number }>(
    `select substr(application_name, 11) as name, count(distinct coalesce(client_addr::text, '')) ::int as addresses
     from pg_stat_activity where application_name like 'recordbus %' and application_name not like 'recordbus cli%'
     group by 1 order by 1`,
  );
  return [fine('services', rows.length === 0 ? 'none is connected' : rows.map(({ name }) => name).join(', '))];
}
