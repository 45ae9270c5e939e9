import { AppError } from '@recordbus/errors';
import { startSlice } from '@recordbus/limits/time-slice';
import type { Collection, Problems } from '@recordbus/schema';
import { allowedFunctions, allowedSyntax } from '../views/allowed-functions.ts';
import { parseSql } from '../views/sql-parser.ts';
import { type Findings, inspect } from '../views/view-query.ts';
import type { MigrationFile } from './schema-document.ts';

/** A statement in a migration. */
export interface MigrationStatement {
  readonly text: string;
  /** The line on which it begins, from 1. */
  readonly line: number;
  /** The collection that it writes. */
  readonly target: string;
  readonly verb: Verb;
  /** All tables that it names, other than CTEs. */
  readonly names: readonly string[];
}

type Verb = 'insert' | 'update' | 'delete';

/** The parser's nodes for the statements that a migration may have. */
const verbs: Readonly<Record<string, Verb>> = { InsertStmt: 'insert', UpdateStmt: 'update', DeleteStmt: 'delete' };

/** What migrations may contain in addition to what views may. A statement within another is not allowed. */
const allowed = {
  syntax: new Set([...allowedSyntax, 'OnConflictClause', 'InferClause', 'IndexElem', 'MultiAssignRef', 'SetToDefault']),
  functions: new Set([...allowedFunctions, 'gen_random_uuid', 'random']),
};

/** Adds to `problems` each migration with a statement that does not change collections' records. */
export async function refuseMigrations(
  migrations: readonly MigrationFile[],
  collections: readonly Collection[],
  problems: Problems,
): Promise<void> {
  const slice = startSlice();
  for (const migration of migrations) {
    if (slice.isOver()) await slice.pause();
    try {
      for (const statement of await readMigration(migration)) refuseNames(statement, collections);
    } catch (error) {
      if (!(error instanceof MigrationProblem)) throw error;
      problems.add(`migrations.${migration.name}`, error.message);
    }
  }
}

/** The reason why a migration is refused, with the line. */
class MigrationProblem extends Error {
  constructor(line: number, message: string) {
    super(`line ${line}: ${message}`);
  }
}

/** Returns the collections that a valid migration writes. */
export async function targetsOf(migration: MigrationFile): Promise<ReadonlySet<string>> {
  return new Set((await readMigration(migration)).map(({ target }) => target));
}

function refuseNames({ line, target, verb, names }: MigrationStatement, collections: readonly Collection[]): void {
  const typeOf = (name: string) => collections.find((collection) => collection.name === name)?.type;
  const refuse = (message: string): never => {
    throw new MigrationProblem(line, message);
  };
  for (const name of [target, ...names]) {
    if (typeOf(name) === undefined) refuse(`there is no collection "${name}"`);
    if (typeOf(name) === 'view') refuse(`"${name}" is a view, which migrations cannot name`);
  }
  if (typeOf(target) === 'auth' && verb !== 'update') refuse(`accounts of "${target}" can only be updated`);
}

/** Reads a migration's statements. Throws the problem with one that is not allowed. */
export async function readMigration({ sql }: MigrationFile): Promise<MigrationStatement[]> {
  const bytes = Buffer.from(sql);
  const { stmts = [] } = await parseSql(sql).catch((error: unknown) => {
    throw new MigrationProblem(lineOfError(error, bytes), error instanceof Error ? error.message : 'cannot be parsed');
  });
  return stmts.map(({ stmt, stmt_location: start = 0, stmt_len: length }) => {
    const text = bytes.subarray(start, length ? start + length : undefined).toString();
    const line = lineAt(bytes, start + Buffer.byteLength(text) - Buffer.byteLength(text.trimStart()));
    const [kind = '', tree] = Object.entries(stmt ?? {})[0] ?? [];
    const verb = verbs[kind];
    if (!verb) throw new MigrationProblem(line, 'must be an insert, an update or a delete');
    const found: Findings = { mentions: [], ctes: new Set() };
    try {
      inspect(tree, found, allowed);
      // Inside its own definition, such a CTE would refer to the database's table.
      for (const cte of found.ctes)
        if (cte.startsWith('pg_')) throw new MigrationProblem(line, `must not name a CTE "${cte}"`);
      const target = targetOf(tree, found);
      const names = found.mentions.map(({ name }) => name).filter((name) => !found.ctes.has(name));
      return { text, line, target, verb, names };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      throw new MigrationProblem(line, String(error.details?.view_query ?? error.message));
    }
  });
}

/** Returns the table that a statement writes, which the parser keeps apart from the tables that it reads. */
function targetOf(tree: unknown, found: Findings): string {
  const relation = typeof tree === 'object' && tree !== null && 'relation' in tree ? tree.relation : undefined;
  // The target's tree has no type of its own, so its schema and its name are checked here.
  inspect({ RangeVar: relation }, found, allowed);
  return found.mentions.at(-1)?.name ?? '';
}

/** The line at a place in the text, in bytes. */
const lineAt = (bytes: Buffer, place: number): number => bytes.subarray(0, place).toString().split('\n').length;

function lineOfError(error: unknown, bytes: Buffer): number {
  const details = typeof error === 'object' && error !== null && 'sqlDetails' in error ? error.sqlDetails : undefined;
  const place =
    typeof details === 'object' && details !== null && 'cursorPosition' in details ? Number(details.cursorPosition) : 0;
  return Number.isInteger(place) && place > 0 ? lineAt(bytes, place) : 1;
}
