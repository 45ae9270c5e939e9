import { CompiledQuery, Kysely, PostgresDialect, sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import pg from 'pg';
import { migrations, steps } from '../migrations/index.ts';

/** The statement time of a migration, in milliseconds: one may rewrite an index of millions of rows. */
const longestStatementMs = 600_000;

/**
 * Runs the missing migrations in one transaction under Kysely's lock, and returns their names. Only one replica may call
 * it at a time. Throws the error of a failing migration.
 */
export async function runMigrations({ options }: Pick<pg.Pool, 'options'>): Promise<string[]> {
  // A session behind a pooler has no statement time.
  const isPooled = options.statement_timeout === undefined;
  const timeouts = { query_timeout: longestStatementMs, ...(!isPooled && { statement_timeout: longestStatementMs }) };
  const pool = new pg.Pool({ ...options, ...timeouts, max: 1 });
  // A lost connection fails the current statement. An unhandled error event would end the process.
  pool.on('error', () => {});
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  try {
    return await migrateToLatest(db);
  } finally {
    await db.destroy();
  }
}

async function migrateToLatest(db: Kysely<unknown>): Promise<string[]> {
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

const migrationOf = (name: string, statements: readonly string[]): Migration => ({
  async up(db) {
    for (const statement of statements) await sql.raw(statement).execute(db);
    await steps[name]?.(
      async <Row>(text: string, values: readonly unknown[] = []) =>
        (await db.executeQuery<Row>(CompiledQuery.raw(text, [...values]))).rows,
    );
  },
});

const allMigrations = Object.fromEntries(
  Object.entries(migrations).map(([name, statements]) => [name, migrationOf(name, statements)]),
);
