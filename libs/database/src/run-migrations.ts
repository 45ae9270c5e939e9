import { Kysely, PostgresDialect, sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import type { Pool } from 'pg';
import { migrations } from './migrations/index.ts';

/**
 * Runs the migrations that the database lacks, in one transaction under Kysely's lock, and gives their names. One
 * replica at a time may call it. Throws what the failing one threw.
 */
export async function runMigrations(pool: Pool): Promise<string[]> {
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  await sql`create schema if not exists system`.execute(db);
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => allMigrations },
    migrationTableSchema: 'system',
  });
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error) throw error;
  return results.map(({ migrationName }) => migrationName);
}

const migrationOf = (statements: readonly string[]): Migration => ({
  async up(db) {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
});

const allMigrations = Object.fromEntries(
  Object.entries(migrations).map(([name, statements]) => [name, migrationOf(statements)]),
);
