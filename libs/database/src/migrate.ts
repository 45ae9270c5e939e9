import { ConfigError } from '@recordbus/shared/config';
import type { Logger } from '@recordbus/shared/logging';
import type { Pool } from 'pg';
import { migrationNames } from './migrations/index.ts';
import type { Query } from './statement.ts';

/**
 * Brings the schema `system` up to date. Any number of replicas may call it at once: the first one in does the work,
 * the others wait. Throws a sentence for a database of a newer version, and what the failing migration threw; nothing
 * of it stays.
 */
export async function migrate(query: Query, pool: Pool, log: Logger): Promise<void> {
  const applied = await findApplied(query);
  const unknown = applied.filter((name) => !migrationNames.includes(name));
  if (unknown.length > 0)
    throw new ConfigError(
      `The database was made by a newer version: it has ${unknown.join(', ')}. Run that version; the only way back is a backup.`,
    );
  if (applied.length === migrationNames.length) return;
  // Loaded here, since most starts find nothing to do.
  const { runMigrations } = await import('./run-migrations.ts');
  const migrated = await runMigrations(pool);
  if (migrated.length > 0) log.info({ migrated }, 'the system tables are up to date');
}

/** Names of the migrations that the database has. */
async function findApplied(query: Query): Promise<string[]> {
  const table = 'system.kysely_migration';
  const [found] = await query<{ isThere: boolean }>({
    text: 'select to_regclass($1) is not null as "isThere"',
    values: [table],
  });
  if (!found?.isThere) return [];
  const rows = await query<{ name: string }>({ text: `select name from ${table}`, values: [] });
  return rows.map(({ name }) => name);
}
