import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '@recordbus/process/logging';
import { StartFailure } from '@recordbus/process/start-failure';
import { Kysely, PostgresDialect, sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import pg from 'pg';
import { isConnectionError, isDatabaseError, sqlState } from '../errors.ts';
import { lastBeforeSchema, type Migrations, schemaName } from '../migrations/migrations.ts';

/** A migration's statement time, in milliseconds: one may rewrite an index with millions of rows. */
const longestStatementMs = 600_000;

/**
 * How long a migration waits for a table, in milliseconds. The previous version's statements on that table wait behind
 * it, so it gives up soon and lets them pass.
 */
const tableWaitMs = 2000;

/** How often the migrations are tried while other transactions hold the tables, a few seconds apart: ten minutes. */
const longestTries = 120;
const pauseMs = 3000;

/**
 * Runs the missing migrations in one transaction under Kysely's lock, and returns their names. Only one replica may
 * call it at a time, and not for tables that are too old. Throws StartFailure for a migration that fails: nothing of
 * the transaction stays.
 */
export async function runMigrations(
  { options }: Pick<pg.Pool, 'options'>,
  migrations: Migrations,
  log: Logger,
): Promise<string[]> {
  // A session behind a pooler has no statement time.
  const isPooled = options.statement_timeout === undefined;
  const timeouts = { query_timeout: longestStatementMs, ...(!isPooled && { statement_timeout: longestStatementMs }) };
  const pool = new pg.Pool({ ...options, ...timeouts, max: 1 });
  // A lost connection fails the current statement. An unhandled error event would end the process.
  pool.on('error', () => {});
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  try {
    for (let tries = 1; ; tries += 1) {
      try {
        return await migrateToLatest(db, migrations);
      } catch (error) {
        if (!isDatabaseError(error, sqlState.lockNotAvailable, sqlState.deadlockDetected) || tries === longestTries)
          throw error;
        log.warn({ reason: error.message, tries }, 'the migration waits for transactions that hold its tables');
        await delay(pauseMs);
      }
    }
  } finally {
    await db.destroy();
  }
}

async function migrateToLatest(db: Kysely<unknown>, { names, read }: Migrations): Promise<string[]> {
  await sql`create schema if not exists system`.execute(db);
  await replaceEarlierNames(db);
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => Object.fromEntries(names.map((name) => [name, migrationOf(read(name))])) },
    migrationTableSchema: 'system',
  });
  const { error, results = [] } = await migrator.migrateToLatest();
  const failed = results.find(({ status }) => status === 'Error');
  if (error) throw failed ? migrationFailure(failed.migrationName, error) : error;
  return results.map(({ migrationName }) => migrationName);
}

/** Renames the last migration before `schema.sql`, which made the same tables. */
async function replaceEarlierNames(db: Kysely<unknown>): Promise<void> {
  const table = sql.table('system.kysely_migration');
  const { rows } = await sql<{ exists: boolean }>`
    select to_regclass('system.kysely_migration') is not null as "exists"`.execute(db);
  if (!rows[0]?.exists) return;
  await sql`
    with earlier as (delete from ${table} where name < ${schemaName} returning name)
    insert into ${table} (name, timestamp) select ${schemaName}, ${new Date().toISOString()}
    where exists (select from earlier where name = ${lastBeforeSchema})`.execute(db);
}

/** Names the migration that PostgreSQL refused. Errors that pass with another try stay as they are. */
function migrationFailure(name: string, error: unknown): unknown {
  if (isConnectionError(error) || !isDatabaseError(error)) return error;
  if ([sqlState.lockNotAvailable, sqlState.deadlockDetected].some((code) => code === error.code)) return error;
  const detail = [error.message, error.detail].filter(Boolean).join('; ');
  return new StartFailure(
    `The migration ${name} failed: ${detail}. The tables are unchanged, and the previous version's services keep ` +
      'working: leave them running, remove the cause, and start this version again.',
  );
}

const migrationOf = (statements: string): Migration => ({
  async up(db) {
    // Within the transaction: a pooler may give the session to another client.
    await sql.raw(`set local lock_timeout = ${tableWaitMs}`).execute(db);
    await sql.raw(statements).execute(db);
  },
});
