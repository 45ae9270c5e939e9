import { constants } from 'node:fs';
import { copyFile, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { messageOf } from '@recordbus/errors';
import { readCollection, type StoredCollection, UnreadableCollection } from '@recordbus/pocketbase/collections';
import { CommandFailure } from '@recordbus/stack-calls';
import type { MoveOptions, MoveParts } from './options.ts';
import { readSettings } from './read-settings.ts';

export type SourceRow = Readonly<Record<string, unknown>>;

/** PocketBase's data, read from a copy. */
export interface Source {
  /** The directory of the copy, which goes when the command ends. */
  readonly aside: string;
  /** The directory with the files. */
  readonly storage: string;
  /** All collections, system ones included. */
  readonly collections: readonly StoredCollection[];
  hasTable(name: string): boolean;
  /** A table's rows, in the order of their ids. */
  rows(table: string): IterableIterator<SourceRow>;
  findRow(table: string, id: string): SourceRow | undefined;
  has(table: string, id: string): boolean;
  count(table: string): number;
  /** How many rows meet a condition in SQL, which may name columns in quotes only. */
  countWhere(table: string, condition: string): number;
  /** The settings; undefined without any, and for encrypted ones without their key. */
  readonly settings: SourceRow | undefined;
}

const attempts = 5;

/** Copies a data directory's database aside and opens the copy. The original is only read. */
export async function openSource(
  { lifecycle }: Pick<MoveParts, 'lifecycle'>,
  { directory, encryption }: Pick<MoveOptions, 'directory' | 'encryption'>,
): Promise<Source> {
  const path = join(resolve(directory), 'data.db');
  const aside = await mkdtemp(join(tmpdir(), 'recordbus-pocketbase-'));
  lifecycle.onStop('copy', () => rm(aside, { recursive: true, force: true }));
  const copy = await copyDatabase(path, aside);
  const database = open(copy, directory);
  lifecycle.onStop('copied database', () => database.close());
  return readSource(database, { directory, encryption, aside });
}

/** Copies the database and its write-ahead log, again if PocketBase wrote to them meanwhile. */
async function copyDatabase(path: string, aside: string): Promise<string> {
  const copy = join(aside, 'data.db');
  const parts = [path, `${path}-wal`];
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const before = await Promise.all(parts.map(stampOf));
    if (before[0] === undefined) throw new CommandFailure(`${path} does not exist: name PocketBase's data directory.`);
    await rm(`${copy}-wal`, { force: true });
    await copyFile(path, copy, constants.COPYFILE_FICLONE);
    if (before[1] !== undefined) await copyFile(`${path}-wal`, `${copy}-wal`);
    const after = await Promise.all(parts.map(stampOf));
    if (before.join() === after.join()) return copy;
  }
  throw new CommandFailure(
    `${path} was written to during each of ${attempts} copies. Stop PocketBase for the copy, or use its backup.`,
  );
}

async function stampOf(path: string): Promise<string | undefined> {
  try {
    const { size, mtimeMs, ino } = await stat(path);
    return `${size}:${mtimeMs}:${ino}`;
  } catch {
    return undefined;
  }
}

function open(copy: string, directory: string): DatabaseSync {
  try {
    // Not read-only: SQLite merges the write-ahead log into the copy.
    const database = new DatabaseSync(copy, { enableForeignKeyConstraints: false });
    database.exec('pragma trusted_schema = off; pragma cell_size_check = on');
    const [first] = database.prepare('pragma quick_check(1)').all();
    const verdict = first?.quick_check ?? first?.integrity_check;
    if (verdict !== 'ok') throw new CommandFailure(`${directory}/data.db is damaged: ${String(verdict)}.`);
    database.exec('pragma query_only = on');
    return database;
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    throw new CommandFailure(`${directory}/data.db is not a readable SQLite database: ${messageOf(error)}.`);
  }
}

/** Quotes a name in SQLite's SQL. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

interface Copied extends Pick<MoveOptions, 'directory' | 'encryption'> {
  readonly aside: string;
}

function readSource(database: DatabaseSync, { directory, encryption, aside }: Copied): Source {
  const tables = new Set(
    database
      .prepare("select name from sqlite_master where type = 'table'")
      .all()
      .map(({ name }) => String(name).toLowerCase()),
  );
  if (tables.has('_admins'))
    throw new CommandFailure(
      `${directory} is from PocketBase 0.22 or older. Start it once with PocketBase 0.23 to 0.40, which upgrades it.`,
    );
  if (!tables.has('_collections')) throw new CommandFailure(`${directory}/data.db is not a PocketBase database.`);
  const collections = database.prepare('select * from _collections order by name').all().map(readOne);
  for (const { name, type } of collections)
    if (type !== 'view' && !tables.has(name.toLowerCase()))
      throw new CommandFailure(`${directory}/data.db lacks the table for the collection ${name}.`);
  const statements = new Map<string, StatementSync>();
  const statement = (sql: string): StatementSync => {
    const made = statements.get(sql) ?? database.prepare(sql);
    made.setReadBigInts(false);
    statements.set(sql, made);
    return made;
  };
  return {
    aside,
    storage: join(resolve(directory), 'storage'),
    collections,
    hasTable: (name) => tables.has(name.toLowerCase()),
    rows: (table) => database.prepare(`select * from ${quoted(table)} order by "id"`).iterate(),
    findRow: (table, id) => statement(`select * from ${quoted(table)} where "id" = ?`).get(id),
    has: (table, id) => statement(`select 1 from ${quoted(table)} where "id" = ?`).get(id) !== undefined,
    count: (table) => Number(statement(`select count(*) as n from ${quoted(table)}`).get()?.n),
    countWhere: (table, condition) =>
      Number(statement(`select count(*) as n from ${quoted(table)} t where ${condition}`).get()?.n),
    settings: tables.has('_params')
      ? readSettings(textOf(statement("select value from _params where id = 'settings'").get()?.value), encryption)
      : undefined,
  };
}

function readOne(row: SourceRow): StoredCollection {
  try {
    return readCollection(row);
  } catch (error) {
    if (error instanceof UnreadableCollection) throw new CommandFailure(`data.db cannot be read: ${error.message}.`);
    throw error;
  }
}

const textOf = (value: unknown): string =>
  value instanceof Uint8Array ? Buffer.from(value).toString() : String(value ?? '');
