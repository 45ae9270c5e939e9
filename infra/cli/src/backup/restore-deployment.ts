import { createReadStream, existsSync } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { rebuildAnalystViews } from '@recordbus/admin';
import { recordAudit } from '@recordbus/audit';
import { inspectArchive, type Manifest } from '@recordbus/backup';
import { leaveErasures, readErasures } from '@recordbus/backup/kept-erasures';
import { keyFileOf } from '@recordbus/crypto';
import { openDatabase } from '@recordbus/database';
import { ownSchemas } from '@recordbus/encryption';
import { makeDirectory } from '@recordbus/process/directory';
import { replaceSecretFile } from '@recordbus/process/secret-file';
import { CommandFailure } from '@recordbus/stack-calls';
import { replaceTokenSecret, secretFileOf } from '@recordbus/tokens';
import type pg from 'pg';
import { cliActor } from '../cli-actor.ts';
import { findServers } from '../deployment/find-servers.ts';
import { holdCommandLock } from '../deployment/hold-command-lock.ts';
import { requireStoppedServices } from '../deployment/require-stopped-services.ts';
import type { CommandParts, CommonOptions } from '../run-command.ts';
import { type Restored, restoreBackup } from './restore-backup.ts';
import { openRestoredUploads } from './restored-uploads.ts';

export interface RestoreOptions extends CommonOptions {
  /** Whether to replace what is there. */
  readonly force?: boolean;
  /** False with --no-secret. */
  readonly secret: boolean;
}

/**
 * Restores a deployment from an archive: the database in one transaction, with the files next to the old ones until the
 * commit, then the secret file and the migrations. Throws CommandFailure instead of replacing anything without
 * `force`. Nothing changes until the commit, even if a signal stops it.
 */
export async function restoreDeployment(
  parts: CommandParts,
  file: string,
  { force: replaces = false, secret: takesSecrets }: RestoreOptions,
): Promise<undefined> {
  const { config, terminal } = parts;
  if (!existsSync(file)) throw new CommandFailure(`The file ${file} does not exist.`);
  const { manifest } = await inspectArchive(createReadStream(file));
  const described = takesSecrets ? manifest : { ...manifest, secret: false, encryption_key: false };
  if (!replaces) await refuseUsedDirectory(parts, described);
  const { databaseUrl } = await findServers(parts, { createsData: true });
  const client = await holdCommandLock(parts, databaseUrl);
  await requireStoppedServices(client);
  if (!replaces) await refuseUsedDatabase(client);
  const restored = await restoreAll(parts, client, file, { replaces, takesSecrets });
  const writesSecret = restored.secret !== undefined && config.jwtSecret === undefined;
  await migrateAndAudit(parts, databaseUrl, restored);
  const { rows, files } = restored;
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
        ? ['Uploaded files were in a separate store and are not in the archive.']
        : []),
      ...(writesSecret
        ? []
        : [`Earlier tokens stay valid only if ${secretPlace(config)} has the backed-up deployment's token secret.`]),
      keySentence(parts, restored.key),
    ].join('\n'),
  );
}

function keySentence({ config, key }: CommandParts, restored: string | undefined): string {
  if (restored === undefined)
    return "Set SERVICE_ENCRYPTION_KEY to the backed-up deployment's encryption key, then start the services.";
  if (config.encryptionKey === undefined)
    return `Its encryption key is in ${keyFileOf(config.dataDirectory)}. Start the services.`;
  return restored === key.text
    ? 'SERVICE_ENCRYPTION_KEY is its encryption key. Start the services.'
    : 'SERVICE_ENCRYPTION_KEY is not its encryption key, which is in the archive as encryption_key: without it encrypted values cannot be read.';
}

const secretPlace = ({ jwtSecret, dataDirectory }: CommandParts['config']): string =>
  jwtSecret === undefined ? secretFileOf(dataDirectory) : 'SERVICE_JWT_SECRET';

/** Restores the whole archive or nothing, even if a signal stops it. */
async function restoreAll(
  parts: CommandParts,
  client: pg.Client,
  file: string,
  { replaces, takesSecrets }: { readonly replaces: boolean; readonly takesSecrets: boolean },
): Promise<Restored> {
  const { config, lifecycle } = parts;
  const uploads = await openRestoredUploads(config);
  const stopping = new AbortController();
  const work = async (): Promise<Restored> => {
    let restored: Restored;
    try {
      await client.query('begin');
      const erasures = replaces ? await readErasures(client) : [];
      restored = await restoreBackup(file, { client, storage: uploads.storage, replaces, signal: stopping.signal });
      await leaveErasures(client, erasures);
      if (!takesSecrets) restored = { ...restored, secret: undefined, key: undefined };
      await uploads.publish();
    } catch (error) {
      await client.query('rollback').catch(() => {});
      await uploads.undo();
      throw error;
    }
    // If the connection breaks here, the commit's outcome is unknown: both the old and the new files stay.
    await client.query('commit');
    return restored;
  };
  const working = work();
  // Closing the connection makes the work fail, and it undoes its changes before the process ends.
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
  if (restored.key !== undefined && config.encryptionKey === undefined) {
    makeDirectory(resolve(config.dataDirectory));
    replaceSecretFile(keyFileOf(config.dataDirectory), restored.key);
  }
  await uploads.removeObsolete();
  return restored;
}

async function refuseUsedDirectory(
  { config }: CommandParts,
  { files, secret, encryption_key }: Manifest,
): Promise<void> {
  const { dataDirectory, storageUrl, jwtSecret, encryptionKey } = config;
  const uploads = await readdir(join(dataDirectory, 'uploads')).catch(() => []);
  const hasFiles = uploads.some((name) => !name.startsWith('.'));
  const holds = [
    ...(files === 'included' && storageUrl === undefined && hasFiles ? ['uploaded files'] : []),
    ...(secret && jwtSecret === undefined && existsSync(secretFileOf(dataDirectory)) ? ['a secret file'] : []),
    ...(encryption_key && encryptionKey === undefined && existsSync(keyFileOf(dataDirectory)) ? ['a key file'] : []),
  ];
  if (holds.length > 0)
    throw new CommandFailure(
      `${dataDirectory} holds ${holds.join(' and ')}: name an empty directory, or use --force to replace them.`,
    );
}

async function refuseUsedDatabase(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    'select nspname as name from pg_namespace where nspname = any($1)',
    [ownSchemas],
  );
  if (rows.length > 0)
    throw new CommandFailure(
      'The database already holds a deployment: name an empty one, or use --force to replace it.',
    );
}

async function migrateAndAudit(
  { name, log }: CommandParts,
  url: string,
  { manifest, rows, files }: Restored,
): Promise<void> {
  const database = await openDatabase({ url, name: `cli ${name}`, log, as: 'admin', maxConnections: 1 });
  try {
    await recordAudit(database.query, {
      action: 'backups.restore',
      ...cliActor,
      details: { created_at: manifest.created_at, rows, files },
    });
    await rebuildAnalystViews(database);
  } finally {
    await database.close();
  }
}
