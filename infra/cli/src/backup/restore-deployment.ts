import { existsSync } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { recordAudit } from '@recordbus/audit';
import { openDatabase } from '@recordbus/database';
import { replaceTokenSecret, secretFileOf } from '@recordbus/tokens';
import type pg from 'pg';
import { byCommand } from '../by-command.ts';
import { findServers } from '../deployment/find-servers.ts';
import { holdCommandLock } from '../deployment/hold-command-lock.ts';
import { ownSchemas } from '../deployment/own-schemas.ts';
import { refuseServices } from '../deployment/refuse-services.ts';
import { CommandFailure } from '../failure.ts';
import type { CommandParts } from '../run-command.ts';
import type { Manifest } from './manifest.ts';
import { checkArchive, type Restored, restoreBackup } from './restore-backup.ts';
import { openRestoredUploads } from './restored-uploads.ts';

/**
 * Makes a deployment from an archive: the database in one transaction, the files beside the old ones until it is
 * committed, the secret file, and then the tables brought up to date. Throws a sentence when something is there already
 * and may not be replaced; until the commit everything stays as it was, also when a signal stops it.
 */
export async function restoreDeployment(parts: CommandParts, file: string, replaces: boolean): Promise<undefined> {
  const { config, terminal } = parts;
  if (!existsSync(file)) throw new CommandFailure(`There is no file ${file}.`);
  const described = await checkArchive(file);
  if (!replaces) await refuseUsedDirectory(parts, described);
  const { databaseUrl } = await findServers(parts, { makesData: true });
  const client = await holdCommandLock(parts, databaseUrl);
  await refuseServices(client);
  if (!replaces) await refuseUsedDatabase(client);
  const restored = await putInPlace(parts, client, file, replaces);
  const writesSecret = restored.secret !== undefined && config.jwtSecret === undefined;
  await bringUpToDate(parts, databaseUrl, restored);
  const { rows, files, manifest } = restored;
  terminal.report(
    {
      created_at: manifest.created_at,
      rows,
      files,
      files_elsewhere: manifest.files === 'elsewhere',
      secret: writesSecret,
    },
    [
      `Restored ${rows} rows and ${files} files as of ${manifest.created_at}.`,
      ...(manifest.files === 'elsewhere'
        ? ['Uploaded files were in a store of their own and are not in the archive.']
        : []),
      ...(writesSecret ? [] : [`The secret is ${secretPlace(config)}: with another one than then, tokens are void.`]),
      'Set SERVICE_ENCRYPTION_KEY to the key of the deployment that was backed up, then start the services.',
    ].join('\n'),
  );
}

const secretPlace = ({ jwtSecret }: CommandParts['config']): string =>
  jwtSecret === undefined ? 'still that of the secret file' : 'that of SERVICE_JWT_SECRET';

/** Puts all of the archive where it belongs, or nothing: also when a signal stops it. */
async function putInPlace(parts: CommandParts, client: pg.Client, file: string, replaces: boolean): Promise<Restored> {
  const { config, lifecycle } = parts;
  const uploads = await openRestoredUploads(config);
  const stopping = new AbortController();
  const work = async (): Promise<Restored> => {
    let restored: Restored;
    try {
      await client.query('begin');
      restored = await restoreBackup(file, { client, storage: uploads.storage, replaces, signal: stopping.signal });
      await uploads.settle();
    } catch (error) {
      await client.query('rollback').catch(() => {});
      await uploads.undo();
      throw error;
    }
    // A connection that is lost here leaves open which files the database names: those of before stay beside the others.
    await client.query('commit');
    return restored;
  };
  const working = work();
  // Without its connection the work fails, and takes back what it did before the process ends.
  lifecycle.onStop('restore', async () => {
    stopping.abort();
    await client.end();
    await working.catch(() => {});
  });
  const restored = await working;
  if (restored.secret !== undefined && config.jwtSecret === undefined) {
    await mkdir(config.dataDirectory, { recursive: true });
    replaceTokenSecret(config.dataDirectory, restored.secret);
  }
  await uploads.tidy();
  return restored;
}

async function refuseUsedDirectory({ config }: CommandParts, { files, secret }: Manifest): Promise<void> {
  const { dataDirectory, storageUrl, jwtSecret } = config;
  const uploads = await readdir(join(dataDirectory, 'uploads')).catch(() => []);
  const hasFiles = uploads.some((name) => !name.startsWith('.'));
  const holds = [
    ...(files === 'included' && storageUrl === undefined && hasFiles ? ['uploaded files'] : []),
    ...(secret && jwtSecret === undefined && existsSync(secretFileOf(dataDirectory)) ? ['a secret file'] : []),
  ];
  if (holds.length > 0)
    throw new CommandFailure(
      `${dataDirectory} holds ${holds.join(' and ')}: name an empty directory, or replace them with --force.`,
    );
}

async function refuseUsedDatabase(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    'select nspname as name from pg_namespace where nspname = any($1)',
    [ownSchemas],
  );
  if (rows.length > 0)
    throw new CommandFailure('The database holds a deployment already: name an empty one, or replace it with --force.');
}

async function bringUpToDate(
  { name, log }: CommandParts,
  url: string,
  { manifest, rows, files }: Restored,
): Promise<void> {
  const database = await openDatabase({ url, name: `cli ${name}`, log, poolSize: 1, readConnections: 1 });
  try {
    await recordAudit(database.query, {
      action: 'backups.restore',
      ...byCommand,
      details: { created_at: manifest.created_at, rows, files },
    });
  } finally {
    await database.close();
  }
}
