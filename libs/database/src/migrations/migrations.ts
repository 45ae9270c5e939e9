import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The name under which a database has `schema.sql`. */
export const schemaName = '0101-schema';

/** The migrations were one file each before there was a `schema.sql`. A database with the last one has the same tables. */
export const lastBeforeSchema = '0101-mail-turns';

/** A folder's migrations: `schema.sql` makes a new database's tables, and each other file adds to them. */
export interface Migrations {
  /** In the order in which they run. */
  readonly names: readonly string[];
  /** Returns a migration's statements. */
  read(name: string): string;
}

/** Lists a folder's migrations. */
export function readMigrations(directory: string): Migrations {
  const additions = readdirSync(directory)
    .map((file) => /^(\d{4}-[a-z0-9-]+)\.sql$/.exec(file)?.[1])
    .filter((name) => name !== undefined)
    .sort();
  return {
    names: [schemaName, ...additions],
    read: (name) => readFileSync(join(directory, name === schemaName ? 'schema.sql' : `${name}.sql`), 'utf8'),
  };
}

/** This version's migrations. */
export const ownMigrations = readMigrations(import.meta.dirname);
