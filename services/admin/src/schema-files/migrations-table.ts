import { createHash } from 'node:crypto';
import type { Query } from '@recordbus/database';
import type { MigrationFile } from './schema-document.ts';

/** A data migration that ran. */
export interface AppliedMigration {
  readonly name: string;
  readonly digest: string;
}

/** Returns the data migrations that ran, by their numbers. */
export async function listMigrations(query: Query): Promise<AppliedMigration[]> {
  const rows = await query<AppliedMigration>({
    text: 'select name, digest from system.schema_migrations',
    values: [],
  });
  return rows.sort(byNumber);
}

/** Returns the files of the data migrations that ran, by number. */
export async function listMigrationFiles(query: Query): Promise<MigrationFile[]> {
  const rows = await query<MigrationFile>({ text: 'select name, sql from system.schema_migrations', values: [] });
  return rows.sort(byNumber);
}

/** Records that a migration ran. */
export async function insertMigration(query: Query, { name, sql }: MigrationFile): Promise<void> {
  await query({
    text: 'insert into system.schema_migrations (name, digest, sql) values ($1, $2, $3)',
    values: [name, digestOf(sql), sql],
  });
}

/** The digest that detects a changed migration. */
export const digestOf = (sql: string): string => createHash('sha256').update(sql).digest('hex');

/** The number at the beginning of a migration's name. */
export const numberOf = ({ name }: Pick<MigrationFile, 'name'>): number => Number.parseInt(name, 10);

/** Sorts migrations into the order in which they run. */
export const byNumber = (a: Pick<MigrationFile, 'name'>, b: Pick<MigrationFile, 'name'>): number =>
  numberOf(a) - numberOf(b) || (a.name < b.name ? -1 : 1);
