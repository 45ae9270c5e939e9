import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';

/** A collection as PocketBase 0.40 defines it. */
export interface PocketBaseDefinition {
  readonly id: string;
  readonly name: string;
  readonly type?: 'base' | 'auth' | 'view';
  readonly system?: boolean;
  /** Whether accounts may lack an address. */
  readonly isAddressOptional?: boolean;
  readonly fields: readonly Readonly<Record<string, unknown>>[];
  readonly rules?: Readonly<Partial<Record<'list' | 'view' | 'create' | 'update' | 'delete', string | null>>>;
  readonly indexes?: readonly string[];
  readonly options?: Readonly<Record<string, unknown>>;
}

/** A data directory with the layout of PocketBase 0.40. */
export interface PocketBaseData {
  readonly directory: string;
  readonly database: DatabaseSync;
  define(definition: PocketBaseDefinition): void;
  insert(table: string, row: Readonly<Record<string, SQLInputValue>>): void;
  /** Writes a stored file. */
  store(collectionId: string, record: string, name: string, bytes: string | Buffer): void;
  close(): void;
}

const system = {
  id: {
    name: 'id',
    type: 'text',
    system: true,
    primaryKey: true,
    required: true,
    min: 15,
    max: 15,
    pattern: '^[a-z0-9]+$',
  },
  created: { name: 'created', type: 'autodate', onCreate: true, onUpdate: false },
  updated: { name: 'updated', type: 'autodate', onCreate: true, onUpdate: true },
};

const account: PocketBaseDefinition['fields'] = [
  { name: 'password', type: 'password', system: true, hidden: true, required: true, min: 8 },
  { name: 'tokenKey', type: 'text', system: true, hidden: true, required: true, min: 30, max: 60 },
  { name: 'email', type: 'email', system: true, required: true },
  { name: 'emailVisibility', type: 'bool', system: true },
  { name: 'verified', type: 'bool', system: true },
];

/** Makes an empty data directory in the log mode that PocketBase uses. Its last writes are only in the log. */
export function createPocketBaseData(directory: string): PocketBaseData {
  mkdirSync(directory, { recursive: true });
  const database = new DatabaseSync(join(directory, 'data.db'));
  database.exec(`pragma journal_mode = wal; pragma wal_autocheckpoint = 0;
    create table _collections (id text primary key, system boolean, type text, name text unique, fields json, indexes json,
      listRule text, viewRule text, createRule text, updateRule text, deleteRule text, options json, created text, updated text);
    create table _params (id text primary key, value json, created text, updated text);
    create table _externalAuths (id text primary key, collectionRef text, recordRef text, provider text, providerId text,
      created text, updated text);
    create table _superusers (id text primary key, email text, password text, tokenKey text, verified boolean,
      emailVisibility boolean, created text, updated text)`);
  database.prepare('insert into _params (id, value) values (?, ?)').run('settings', '{"s3":{"enabled":false}}');
  return {
    directory,
    database,
    define(definition) {
      const { id, name, type = 'base', system: isSystem = false, isAddressOptional = false } = definition;
      const { fields, rules = {}, indexes = [], options = {} } = definition;
      const own = account.map((field) => (field.name === 'email' ? { ...field, required: !isAddressOptional } : field));
      const all: PocketBaseDefinition['fields'] = [
        system.id,
        ...(type === 'auth' ? own : []),
        ...fields,
        system.created,
        system.updated,
      ].map((field, at) => ({ id: `f${at}`, ...field }));
      const columns = all.map((field) => `"${String(field.name)}"`).join(', ');
      database
        .prepare('insert or replace into _collections values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
        .run(
          id,
          Number(isSystem),
          type,
          name,
          JSON.stringify(all),
          JSON.stringify(indexes),
          rules.list ?? null,
          rules.view ?? null,
          rules.create ?? null,
          rules.update ?? null,
          rules.delete ?? null,
          JSON.stringify(options),
          '',
          '',
        );
      if (type !== 'view') database.exec(`create table if not exists "${name}" (${columns}, primary key ("id"))`);
    },
    insert(table, row) {
      const names = Object.keys(row);
      const marks = names.map(() => '?').join(', ');
      database
        .prepare(`insert into "${table}" (${names.map((name) => `"${name}"`).join(', ')}) values (${marks})`)
        .run(...Object.values(row));
    },
    store(collectionId, record, name, bytes) {
      const path = join(directory, 'storage', collectionId, record, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, bytes);
    },
    close: () => database.close(),
  };
}
