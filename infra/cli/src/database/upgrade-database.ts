import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { recordAudit } from '@recordbus/audit';
import { createBackup, inspectArchive } from '@recordbus/backup';
import { openDatabase } from '@recordbus/database';
import { type ClusterUpgrade, lockDataDirectory, startClusterUpgrade } from '@recordbus/embedded';
import { CommandFailure } from '@recordbus/stack-calls';
import type pg from 'pg';
import { restoreBackup } from '../backup/restore-backup.ts';
import { cliActor } from '../cli-actor.ts';
import { holdCommandLock } from '../deployment/hold-command-lock.ts';
import { requireTables } from '../deployment/table-version.ts';
import type { CommandParts } from '../run-command.ts';
import { copyAnalysts } from './copy-analysts.ts';

/**
 * Moves the data directory's database to this version's PostgreSQL (operation §8.10): a backup of the old cluster,
 * restored into a new one, which then takes its place. Files, secrets and the bus stay as they are. Throws
 * CommandFailure when there is nothing to upgrade, or no way.
 */
export async function upgradeDatabase(parts: CommandParts): Promise<undefined> {
  const { name, config, log, lifecycle, terminal } = parts;
  const { dataDirectory } = config;
  if (config.databaseUrl !== undefined)
    throw new CommandFailure(
      'SERVICE_DATABASE_URL names the database, and this command upgrades only a data directory: run backup create, name an empty database on the other server, and run backup restore.',
    );
  const directory = join(dataDirectory, 'postgres');
  if (!existsSync(directory)) throw new CommandFailure(`There is no data in ${dataDirectory}.`);
  const lock = await lockDataDirectory(dataDirectory, { command: name });
  lifecycle.onStop('data directory', () => lock.release());
  terminal.note('Starting the old and the new PostgreSQL…');
  const cacheDirectory = join(dataDirectory, 'cache');
  const upgrade = await startClusterUpgrade({ directory, cacheDirectory, log });
  if (!upgrade) {
    terminal.report({ upgraded: false }, "The database is this version's already.");
    return;
  }
  lifecycle.onStop('postgres', upgrade.stop);
  const rows = await copyDatabase(parts, upgrade);
  const kept = await upgrade.finish();
  const { from, to } = upgrade;
  terminal.report(
    { upgraded: true, from, to, rows, kept },
    `PostgreSQL ${to} has the database, with ${rows} rows. Start the stack. PostgreSQL ${from}'s is kept in ${kept}: delete it when everything works.`,
  );
}

/** Copies the database over a backup, and brings its tables to this version. Returns the number of rows. */
async function copyDatabase(parts: CommandParts, upgrade: ClusterUpgrade): Promise<number> {
  const { name, log, terminal, config } = parts;
  const { from, to, old, next, home } = upgrade;
  const source = await holdCommandLock(parts, old.url);
  await requireTables(source);
  const archive = join(home, 'database.tar.gz');
  terminal.note('Copying the database…');
  const { rows } = await createBackup(source, {
    output: createWriteStream(archive, { mode: 0o600, flush: true }),
    files: undefined,
    secret: undefined,
    key: undefined,
    processedUpTo: null,
  });
  await inspectArchive(createReadStream(archive));
  const target = await holdCommandLock(parts, next.url);
  const restored = await restore(target, archive);
  if (restored !== rows) throw new Error(`${rows} rows were read and ${restored} written`);
  await rm(archive);
  const database = await openDatabase({ url: next.url, name: `cli ${name}`, log, as: 'admin', maxConnections: 1 });
  try {
    await copyAnalysts({ dataDirectory: config.dataDirectory, from: old.url, to: next.url, database });
    await recordAudit(database.query, { action: 'database.upgrade', ...cliActor, details: { from, to, rows } });
  } finally {
    await database.close();
  }
  // Without statistics the first queries would be slow.
  await target.query('analyze');
  await Promise.all([source.end(), target.end()]);
  return rows;
}

async function restore(client: pg.Client, archive: string): Promise<number> {
  await client.query('begin');
  const { rows } = await restoreBackup(archive, { client, storage: undefined, replaces: false, keepsStream: true });
  await client.query('commit');
  return rows;
}
