import type { Logger } from '@recordbus/shared/logging';
import { Kysely, PostgresDialect, sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import type { Pool } from 'pg';
import { migrations } from './migrations/index.ts';

/**
 * Brings the schema `system` up to date. Any number of replicas may call it at once: the first one in does the work
 * under an advisory lock, the others wait. Throws what the failing migration threw; nothing of it stays.
 */
export async function migrate(pool: Pool, log: Logger): Promise<void> {
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  await ensureSystemSchema(db);
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => ({ ...migrations }) },
    migrationTableSchema: 'system',
  });
  const { error, results } = await migrator.migrateToLatest();
  if (error) throw error;
  const migrated = (results ?? []).map(({ migrationName }) => migrationName);
  if (migrated.length > 0) log.info({ migrated }, 'the system tables are up to date');
}

/** `create schema if not exists` races with itself when two replicas start at once. */
async function ensureSystemSchema(db: Kysely<unknown>): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtext('recordbus.system'))`.execute(tx);
    await sql`create schema if not exists system`.execute(tx);
  });
}
