import { compareTables, type TableVersion } from '@recordbus/database';
import { CommandFailure } from '@recordbus/stack-calls';
import type pg from 'pg';

/** Reads the tables' version; undefined when no service has ever started on this database. */
export async function findTableVersion(client: pg.Client): Promise<TableVersion | undefined> {
  const { rows: found } = await client.query<{ exists: boolean }>(
    "select to_regclass('system.kysely_migration') is not null as exists",
  );
  if (!found[0]?.exists) return undefined;
  const { rows } = await client.query<{ name: string }>('select name from system.kysely_migration order by name');
  return compareTables(rows.map(({ name }) => name));
}

/** Returns the tables' version. Throws CommandFailure when the database holds no deployment. */
export async function requireTables(client: pg.Client): Promise<TableVersion> {
  const version = await findTableVersion(client);
  if (version) return version;
  throw new CommandFailure('There is no deployment in this database: no service has ever started on it.');
}

/** Throws CommandFailure when the database holds no deployment, or one from another version. */
export async function requireOwnTables(client: pg.Client): Promise<void> {
  const { unknown, missing, tooOld } = await requireTables(client);
  if (tooOld) throw new CommandFailure(`${tooOld.reason} ${tooOld.remedy}`);
  if (unknown.length > 0)
    throw new CommandFailure(
      `The tables are from a newer version (${unknown.join(', ')}): use that version's command line.`,
    );
  if (missing.length > 0)
    throw new CommandFailure(
      `The tables are from an older version (without ${missing.join(', ')}): start this version's services first.`,
    );
}
