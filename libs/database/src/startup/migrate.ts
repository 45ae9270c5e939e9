import { setTimeout as delay } from 'node:timers/promises';
import { heartbeat } from '@recordbus/process/background';
import { ConfigError } from '@recordbus/process/config';
import type { Logger } from '@recordbus/process/logging';
import type { Pool, PoolClient } from 'pg';
import { locks } from '../advisory-locks.ts';
import { type Migrations, ownMigrations } from '../migrations/migrations.ts';
import type { Query } from '../statement.ts';
import { compareTables } from './table-version.ts';

/** How often a waiting replica checks for its turn, in milliseconds. */
const turnPollMs = 50;

/** How often this transaction sends a statement: the server ends one that is idle for 30 s, as on a vanished machine. */
const signOfLifeMs = 10_000;

/**
 * Migrates the schema `system`. Any number of replicas may call it at once: the first one does the work, the others
 * wait. Tables from a newer version that only added to them are left as they are. Throws an explanation for tables that
 * this version cannot use, and for a migration that fails; nothing of it stays.
 */
export async function migrate(query: Query, pool: Pool, log: Logger, migrations = ownMigrations): Promise<void> {
  if (await isUpToDate(query, migrations)) return;
  await inTurn(pool, async () => {
    if (await isUpToDate(query, migrations)) return;
    // Imported here, since most starts have nothing to migrate.
    const { runMigrations } = await import('./run-migrations.ts');
    const migrated = await runMigrations(pool, migrations, log);
    if (migrated.length > 0) log.info({ migrated }, 'migrated the system tables');
  });
}

async function isUpToDate(query: Query, { names }: Migrations): Promise<boolean> {
  const { unknown, isTooNew, missing, tooOld } = compareTables(await findApplied(query), names);
  if (tooOld) throw new ConfigError(`${tooOld.reason} ${tooOld.remedy}`);
  if (isTooNew)
    throw new ConfigError(
      `The database was made by a newer version: it has ${unknown.join(', ')}. Run that version; the only way back is a backup.`,
    );
  return missing.length === 0;
}

/**
 * Runs the work on one replica after the other. Waiting replicas poll: a statement that waits for the lock would time out
 * while another replica changes large tables.
 */
async function inTurn(pool: Pool, work: () => Promise<void>): Promise<void> {
  const client = await pool.connect();
  // An unhandled error event would end the process. Without this lock, Kysely's own still keeps a second replica out.
  client.on('error', () => {});
  let endSignsOfLife = () => {};
  try {
    // A lock within the transaction: a pooler may give the session to another client.
    await client.query('begin');
    while (!(await isOurTurn(client))) await delay(turnPollMs);
    endSignsOfLife = heartbeat(signOfLifeMs, () => client.query('select'));
    await work();
  } finally {
    endSignsOfLife();
    // Closing the connection ends the transaction and its lock.
    client.release(true);
  }
}

async function isOurTurn(client: PoolClient): Promise<boolean> {
  const { rows } = await client.query<{ isOurs: boolean }>(
    `select pg_try_advisory_xact_lock(${locks.migrations}) as "isOurs"`,
  );
  return rows[0]?.isOurs === true;
}

/** Finds the migrations that the database has, by name. */
async function findApplied(query: Query): Promise<string[]> {
  const table = 'system.kysely_migration';
  const [found] = await query<{ exists: boolean }>({
    text: 'select to_regclass($1) is not null as "exists"',
    values: [table],
  });
  if (!found?.exists) return [];
  const rows = await query<{ name: string }>({ text: `select name from ${table}`, values: [] });
  return rows.map(({ name }) => name);
}
