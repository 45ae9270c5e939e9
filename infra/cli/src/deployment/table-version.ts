import { migrationNames } from '@recordbus/database';
import type pg from 'pg';
import { CommandFailure } from '../failure.ts';

/** The migrations of a database compared to those of this version. */
export interface TableVersion {
  readonly applied: readonly string[];
  /** Migrations of a newer version. */
  readonly unknown: readonly string[];
  /** Migrations that the next start runs. */
  readonly missing: readonly string[];
}

/** Reads the version of the tables; undefined when no service has ever started on this database. */
export async function findTableVersion(client: pg.Client): Promise<TableVersion | undefined> {
  const { rows: found } = await client.query<{ exists: boolean }>(
    "select to_regclass('system.kysely_migration') is not null as exists",
  );
  if (!found[0]?.exists) return undefined;
  const { rows } = await client.query<{ name: string }>('select name from system.kysely_migration order by name');
  const applied = rows.map(({ name }) => name);
  return {
    applied,
    unknown: applied.filter((name) => !migrationNames.includes(name)),
    missing: migrationNames.filter((name) => !applied.includes(name)),
  };
}

/** Returns the version of the tables. Throws CommandFailure when the database holds no deployment. */
export async function requireTables(client: pg.Client): Promise<TableVersion> {
  const version = await findTableVersion(client);
  if (version) return version;
  throw new CommandFailure('There is no deployment in this database: no service has ever started on it.');
}

/** Throws CommandFailure when the database holds no deployment, or one of another version. */
export async function requireOwnTables(client: pg.Client): Promise<void> {
  const { unknown, missing } = await requireTables(client);
  if (unknown.length > 0)
    throw new CommandFailure(
      `The tables are from a newer version (${unknown.join(', ')}): use the command line of that version.`,
    );
  if (missing.length > 0)
    throw new CommandFailure(
      `The tables are from an older version (without ${missing.join(', ')}): start the services of this version first.`,
    );
}
