import type { Logger } from '@recordbus/shared/logging';
import type { Database } from './database.ts';
import { migrationNames, migrations } from './migrations/index.ts';
import type { Query } from './statement.ts';

/**
 * Brings the schema `system` up to date. Any number of replicas may call it at once: the first one in does the work
 * under an advisory lock, the others wait. Throws what the failing statement threw, and when the database is of a newer
 * version; nothing of it stays then.
 */
export async function migrate({ transaction }: Pick<Database, 'transaction'>, log: Logger): Promise<void> {
  const migrated = await transaction(async (query) => {
    await query({ text: "select pg_advisory_xact_lock(hashtext('recordbus.system'))", values: [] });
    const applied = await readApplied(query);
    const unknown = applied.filter((name) => !migrationNames.includes(name));
    if (unknown.length > 0) throw new Error(`the database was made by a newer version: it has ${unknown.join(', ')}`);
    const missing = migrationNames.filter((name) => !applied.includes(name));
    for (const name of missing) await apply(query, name);
    return missing;
  });
  if (migrated.length > 0) log.info({ migrated }, 'the system tables are up to date');
}

/** Names of the migrations that the database has. The table is called after the library that kept it at first. */
async function readApplied(query: Query): Promise<string[]> {
  await query({ text: 'create schema if not exists system', values: [] });
  await query({
    text: `create table if not exists system.kysely_migration (
  name varchar(255) not null primary key,
  timestamp varchar(255) not null
)`,
    values: [],
  });
  const rows = await query<{ name: string }>({ text: 'select name from system.kysely_migration', values: [] });
  return rows.map(({ name }) => name);
}

async function apply(query: Query, name: string): Promise<void> {
  for (const text of migrations[name] ?? []) await query({ text, values: [] });
  await query({
    text: 'insert into system.kysely_migration (name, timestamp) values ($1, $2)',
    values: [name, new Date().toISOString()],
  });
}
