import type { Writable } from 'node:stream';
import { locks, type Query } from '@recordbus/database';
import type { Storage } from '@recordbus/storage';
import type pg from 'pg';
import { type ArchiveWriter, createArchiveWriter } from './archive-writer.ts';
import { describeSchema, listTables } from './describe-schema.ts';
import {
  archiveFormat,
  filesFolder,
  keyEntry,
  type Manifest,
  manifestEntry,
  schemaEntry,
  secretEntry,
  sequencesEntry,
} from './manifest.ts';
import { readSequences } from './sequences.ts';
import { listStoredFiles } from './stored-files.ts';
import { dumpTable } from './table-data.ts';

export interface BackupResult {
  readonly tables: number;
  readonly rows: number;
  readonly files: number;
  /** Files that records name but the storage lacks: lost before the backup. */
  readonly missing_files: readonly string[];
}

export interface BackupOptions {
  readonly output: Writable;
  /** The store with uploaded files; undefined if they are stored elsewhere and so not in the backup. */
  readonly files: Storage | undefined;
  /** The secret file's text, if it is to be in the archive. */
  readonly secret: Uint8Array | undefined;
  /** The key file's text, if it is to be in the archive. */
  readonly key: string | undefined;
  /** See `findProcessedSequence`. */
  readonly processedUpTo: number | null;
  /** Called for a file that a record names and the store lacks. */
  onMissing?(path: string): void;
  /** Called with how many rows and files are in the archive so far. */
  onProgress?(done: { readonly rows: number; readonly files: number }): void;
}

/**
 * Writes a consistent archive while the services run: rows from one snapshot, then the files that these rows name.
 * Collection changes wait until it is done, and fail after a timeout. The locks stay until the session ends.
 */
export async function createBackup(client: pg.Client, options: BackupOptions): Promise<BackupResult> {
  const { files: store, secret, key, onProgress = () => {} } = options;
  // No service removes files meanwhile, so every file in the snapshot exists until it is copied.
  await client.query(`select pg_advisory_lock(${locks.storedFiles})`);
  // Collections must not change between the snapshot and the locks on their tables.
  await client.query(`select pg_advisory_lock(${locks.schema})`);
  await client.query('begin isolation level repeatable read read only');
  await client.query("set local search_path = ''");
  for (const table of await listTables(client)) await client.query(`lock table only ${table} in access share mode`);
  const archive = createArchiveWriter(options.output);
  await archive.add(manifestEntry, JSON.stringify(await describeBackup(client, options)));
  const schema = await describeSchema(client);
  await client.query(`select pg_advisory_unlock(${locks.schema})`);
  await archive.add(schemaEntry, JSON.stringify(schema));
  let rows = 0;
  for (const [index, table] of schema.tables.entries()) {
    rows += await dumpTable(client, archive, table, index);
    onProgress({ rows, files: 0 });
  }
  await archive.add(sequencesEntry, JSON.stringify(await readSequences(client)));
  const adding = { ...options, onProgress: (files: number) => onProgress({ rows, files }) };
  const files = store ? await addFiles(client, archive, store, adding) : { count: 0, missing: [] };
  if (secret) await archive.add(secretEntry, secret);
  if (key !== undefined) await archive.add(keyEntry, key);
  await archive.finish();
  await client.query('commit');
  return { tables: schema.tables.length, rows, files: files.count, missing_files: files.missing };
}

async function describeBackup(
  client: pg.Client,
  { files, secret, key, processedUpTo }: BackupOptions,
): Promise<Manifest> {
  const { rows } = await client.query<{ version: string; migrations: string[] }>(
    `select current_setting('server_version') as version,
       array(select name::text from system.kysely_migration order by name) as migrations`,
  );
  const [server] = rows;
  if (!server) throw new Error('the database returned no version');
  return {
    format: archiveFormat,
    created_at: new Date().toISOString(),
    postgres: server.version,
    migrations: server.migrations,
    files: files ? 'included' : 'elsewhere',
    secret: secret !== undefined,
    encryption_key: key !== undefined,
    handed_out_up_to: processedUpTo,
  };
}

interface Adding {
  readonly onMissing?: BackupOptions['onMissing'];
  onProgress(files: number): void;
}

async function addFiles(
  client: pg.Client,
  archive: ArchiveWriter,
  store: Storage,
  { onMissing = () => {}, onProgress }: Adding,
) {
  const query: Query = async ({ text, values }) => (await client.query(text, [...values])).rows;
  const missing: string[] = [];
  let count = 0;
  for await (const key of listStoredFiles(query)) {
    const path = key.segments.join('/');
    const found = await store.find(key);
    const bytes = found && (await store.open(key));
    if (!found || !bytes) {
      onMissing(path);
      missing.push(path);
      continue;
    }
    await archive.addStream(`${filesFolder}${path}`, found.sizeBytes, bytes);
    count += 1;
    onProgress(count);
  }
  return { count, missing };
}
