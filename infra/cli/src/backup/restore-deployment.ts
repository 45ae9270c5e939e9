import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { recordAudit } from '@recordbus/audit';
import { openDatabase } from '@recordbus/database';
import { openLocalStorage, openStorage, type Storage } from '@recordbus/storage';
import { replaceTokenSecret, secretFileOf } from '@recordbus/tokens';
import type pg from 'pg';
import { byCommand } from '../by-command.ts';
import { findServers } from '../deployment/find-servers.ts';
import { holdCommandLock } from '../deployment/hold-command-lock.ts';
import { refuseServices } from '../deployment/refuse-services.ts';
import { CommandFailure } from '../failure.ts';
import type { CommandParts } from '../run-command.ts';
import { ownSchemas } from './describe-schema.ts';
import type { Manifest } from './manifest.ts';
import { checkArchive, type Restored, restoreBackup } from './restore-backup.ts';

/**
 * Makes a deployment from an archive: the database in one transaction, the files beside the old ones until it is
 * committed, the secret file, and then the tables brought up to date. Throws a sentence when something is there already
 * and may not be replaced; until the commit everything stays as it was.
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

  const uploads = await openUploads(parts);
  let restored: Restored;
  try {
    await client.query('begin');
    restored = await restoreBackup(file, { client, storage: uploads.storage, replaces });
    await uploads.settle();
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => {});
    await uploads.undo();
    throw error;
  }
  await uploads.tidy();
  const writesSecret = restored.secret !== undefined && config.jwtSecret === undefined;
  if (writesSecret && restored.secret) {
    await mkdir(config.dataDirectory, { recursive: true });
    replaceTokenSecret(config.dataDirectory, restored.secret);
  }
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
      ...(writesSecret ? [] : ['The secret file was left as it is: tokens from before may be void.']),
      'Set SERVICE_ENCRYPTION_KEY to the key of the deployment that was backed up, then start the services.',
    ].join('\n'),
  );
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

/** Files on their way to where the services look for them. */
interface RestoredUploads {
  readonly storage: Storage;
  /** Puts them in the place of the old ones. */
  settle(): Promise<void>;
  /** Puts the old ones back. */
  undo(): Promise<void>;
  /** Removes the old ones. */
  tidy(): Promise<void>;
}

async function openUploads({ config }: CommandParts): Promise<RestoredUploads> {
  const nothing = async (): Promise<void> => {};
  // Keys are written once, so what a store holds already is what the archive has.
  if (config.storageUrl !== undefined)
    return { storage: await openStorage(config), settle: nothing, undo: nothing, tidy: nothing };
  const place = join(config.dataDirectory, 'uploads');
  const fresh = `${place}.restoring`;
  const old = `${place}.replaced`;
  const remove = (path: string): Promise<void> => rm(path, { recursive: true, force: true });
  await Promise.all([remove(fresh), remove(old)]);
  let isSettled = false;
  return {
    storage: await openLocalStorage(fresh),
    async settle() {
      if (existsSync(place)) await rename(place, old);
      await rename(fresh, place);
      isSettled = true;
    },
    async undo() {
      if (isSettled) await remove(place);
      if (existsSync(old) && !existsSync(place)) await rename(old, place);
      await remove(fresh);
    },
    tidy: () => remove(old),
  };
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
