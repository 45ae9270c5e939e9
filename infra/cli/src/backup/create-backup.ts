import type { Writable } from 'node:stream';
import type { Query } from '@recordbus/database';
import { openStorage } from '@recordbus/storage';
import { loadTokenSecret } from '@recordbus/tokens';
import type pg from 'pg';
import type { CommandParts } from '../run-command.ts';
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

interface BackupOptions {
  readonly output: Writable;
  readonly withSecret: boolean;
  /** Adds the key file, which must exist, to the archive. */
  readonly withKey: boolean;
  readonly processedUpTo: number | null;
}

/** No service removes files while this lock is held, so every file of the snapshot exists until it is copied. */
const lockFileRemovals = "select pg_advisory_lock(hashtext('recordbus.files'))";
/** Keeps collections from changing between the snapshot and the locks on their tables. */
const schemaLock = "hashtext('recordbus.schema')";

/**
 * Writes a consistent archive while the services run: rows from one snapshot, then the files that these rows name.
 * Changes of collections wait until it is done, and fail after a timeout.
 */
export async function createBackup(
  parts: CommandParts,
  client: pg.Client,
  options: BackupOptions,
): Promise<BackupResult> {
  const { config, key } = parts;
  await client.query(lockFileRemovals);
  await client.query(`select pg_advisory_lock(${schemaLock})`);
  await client.query('begin isolation level repeatable read read only');
  await client.query("set local search_path = ''");
  for (const table of await listTables(client)) await client.query(`lock table only ${table} in access share mode`);
  const archive = createArchiveWriter(options.output);
  await archive.add(manifestEntry, JSON.stringify(await describeBackup(client, parts, options)));
  const schema = await describeSchema(client);
  await client.query(`select pg_advisory_unlock(${schemaLock})`);
  await archive.add(schemaEntry, JSON.stringify(schema));
  let rows = 0;
  for (const [index, table] of schema.tables.entries()) rows += await dumpTable(client, archive, table, index);
  await archive.add(sequencesEntry, JSON.stringify(await readSequences(client)));
  const files = config.storageUrl === undefined ? await addFiles(parts, client, archive) : { count: 0, missing: [] };
  if (options.withSecret) await archive.add(secretEntry, loadTokenSecret({ dataDirectory: config.dataDirectory }));
  if (options.withKey) await archive.add(keyEntry, key.text ?? '');
  await archive.finish();
  await client.query('commit');
  return { tables: schema.tables.length, rows, files: files.count, missing_files: files.missing };
}

async function describeBackup(
  client: pg.Client,
  { config: { storageUrl } }: CommandParts,
  options: BackupOptions,
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
    files: storageUrl === undefined ? 'included' : 'elsewhere',
    secret: options.withSecret,
    encryption_key: options.withKey,
    handed_out_up_to: options.processedUpTo,
  };
}

async function addFiles({ config, terminal }: CommandParts, client: pg.Client, archive: ArchiveWriter) {
  const storage = await openStorage(config);
  const query: Query = async ({ text, values }) => (await client.query(text, [...values])).rows;
  const missing: string[] = [];
  let count = 0;
  for await (const key of listStoredFiles(query)) {
    const path = key.segments.join('/');
    const found = await storage.find(key);
    const bytes = found && (await storage.open(key));
    if (!found || !bytes) {
      terminal.note(`The file ${path} is missing.`);
      missing.push(path);
      continue;
    }
    await archive.addStream(`${filesFolder}${path}`, found.sizeBytes, bytes);
    count += 1;
  }
  return { count, missing };
}
