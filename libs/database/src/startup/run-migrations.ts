import { Kysely, PostgresDialect, sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import pg from 'pg';
import { lastBeforeSchema, type Migrations, schemaName } from '../migrations/migrations.ts';

/** A migration's statement time, in milliseconds: one may rewrite an index with millions of rows. */
const longestStatementMs = 600_000;

/**
 * Runs the missing migrations in one transaction under Kysely's lock, and returns their names. Only one replica may
 * call it at a time, and not for tables that are too old. Throws a failing migration's error.
 */
export async function runMigrations({ options }: Pick<pg.Pool, 'options'>, migrations: Migrations): Promise<string[]> {
  // A session behind a pooler has no statement time.
  const isPooled = options.statement_timeout === undefined;
  const timeouts = { query_timeout: longestStatementMs, ...(!isPooled && { statement_timeout: longestStatementMs }) };
  const pool = new pg.Pool({ ...options, ...timeouts, max: 1 });
  // A lost connection fails the current statement. An unhandled error event would end the process.
  pool.on('error', () => {});
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  try {
    return await migrateToLatest(db, migrations);
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
  if (error) throw error;
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

const migrationOf = (statements: string): Migration => ({
  async up(db) {
    await sql.raw(statements).execute(db);
  },
});
