import { migrationNames } from '@recordbus/database';
import type pg from 'pg';
import { CommandFailure } from '../failure.ts';

/** Which migrations made the tables of a database, against those that this version knows. */
export interface TableVersion {
  readonly applied: readonly string[];
  /** Those of a newer version. */
  readonly unknown: readonly string[];
  /** Those that the next start makes. */
  readonly missing: readonly string[];
}

/** Finds the version of the tables; undefined when no service has ever started on this database. */
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

/** Throws a sentence when there is no deployment in the database. */
export async function requireTables(client: pg.Client): Promise<TableVersion> {
  const version = await findTableVersion(client);
  if (version) return version;
  throw new CommandFailure('There is no deployment in this database: no service has ever started on it.');
}

/** Throws a sentence when there is no deployment in the database, or one of another version. */
export async function requireOwnTables(client: pg.Client): Promise<void> {
  const { unknown, missing } = await requireTables(client);
  if (unknown.length > 0)
    throw new CommandFailure(
      `The tables are of a newer version (${unknown.join(', ')}): use the command line of that one.`,
    );
  if (missing.length > 0)
    throw new CommandFailure(
      `The tables are of an older version (without ${missing.join(', ')}): start the services of this one first.`,
    );
}
