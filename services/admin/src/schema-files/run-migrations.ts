import { isDatabaseError, type Query } from '@recordbus/database';
import { validationFailed } from '@recordbus/errors';
import { insertDeletedVersions } from '@recordbus/journal';
import { isHidden } from '@recordbus/query';
import { type Collection, quoteIdentifier, tableOf } from '@recordbus/schema';
import { insertMigration } from './migrations-table.ts';
import { type MigrationStatement, readMigration } from './read-migration.ts';
import type { MigrationFile } from './schema-document.ts';

/**
 * Runs migrations in order and records them. Each sees the collections as views on their open columns, so it cannot
 * access passwords, encrypted values, or the product's tables. Throws 422 that names the migration and the line.
 */
export async function runMigrations(
  query: Query,
  migrations: readonly MigrationFile[],
  collections: readonly Collection[],
): Promise<void> {
  for (const migration of migrations) {
    await runMigration(query, migration, collections);
    await insertMigration(query, migration);
  }
}

async function runMigration(query: Query, migration: MigrationFile, collections: readonly Collection[]): Promise<void> {
  const statements = await readMigration(migration);
  const run = (text: string) => query({ text, values: [] });
  const named = new Set(statements.flatMap(({ target, names }) => [target, ...names]));
  const seen = collections.filter(({ name }) => named.has(name));
  const written = seen.filter(({ name }) => statements.some(({ target }) => target === name));
  for (const collection of seen) await run(planOpenView(collection));
  for (const collection of written) for (const text of planTriggers(collection)) await run(text);
  await run('set local search_path = pg_temp, pg_catalog');
  for (const statement of statements) await runStatement(query, migration, statement);
  await run('set local search_path to default');
  for (const collection of written) for (const text of planDropTriggers(collection)) await run(text);
  for (const { name } of seen) await run(`drop view pg_temp.${quoteIdentifier(name)}`);
}

/** The trigger function for deletes, which exists only during the migration. */
const deleteFunction = ({ id }: Collection): string => `pg_temp.${quoteIdentifier(`deleted:${id}`)}`;

/** Plans the triggers that complete new rows, and give changed and deleted ones their next version. */
const planTriggers = (collection: Collection): string[] => [
  `create trigger migrated_row before insert or update on ${tableOf(collection)} for each row
   execute function system.migrated_row()`,
  `create function ${deleteFunction(collection)}() returns trigger language plpgsql as $$
begin
  ${insertDeletedVersions(collection, 'gone')};
  return null;
end $$`,
  `create trigger migrated_away after delete on ${tableOf(collection)} referencing old table as gone
   for each statement execute function ${deleteFunction(collection)}()`,
];

const planDropTriggers = (collection: Collection): string[] => [
  `drop trigger migrated_row on ${tableOf(collection)}`,
  `drop trigger migrated_away on ${tableOf(collection)}`,
  `drop function ${deleteFunction(collection)}()`,
];

/** Plans the view that a migration sees. Members that prove an account's identity can be read but not written. */
function planOpenView(collection: Collection): string {
  const { name, type, fields } = collection;
  const columns = fields
    .filter((field) => !isHidden(field) && field.type !== 'file')
    .map((field) => {
      const column = quoteIdentifier(field.name);
      return type === 'auth' && field.system ? `coalesce(${column}) as ${column}` : column;
    });
  const own = ['id', 'created_at', 'updated_at', ...columns];
  return `create temporary view ${quoteIdentifier(name)} as select ${own.join(', ')} from ${tableOf(collection)}`;
}

/** SQLSTATE classes for errors in a statement or in the values that it writes: syntax, names, data, constraints. */
const statementErrors = /^(0A|21|22|23|2F|39|42|54|55000|57014)/;

async function runStatement(query: Query, { name }: MigrationFile, statement: MigrationStatement): Promise<void> {
  try {
    await query({ text: statement.text, values: [] });
  } catch (error) {
    if (!isDatabaseError(error) || !statementErrors.test(error.code ?? '')) throw error;
    const what = [error.message, error.detail].filter(Boolean).join('; ');
    throw validationFailed({ [`migrations.${name}`]: `line ${statement.line}: ${what}` });
  }
}
