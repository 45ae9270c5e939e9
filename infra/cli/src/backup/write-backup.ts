import { existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { recordAudit } from '@recordbus/audit';
import { type BackupResult, createBackup, findProcessedSequence } from '@recordbus/backup';
import { CommandFailure, isSystemError } from '@recordbus/stack-calls';
import { openStorage } from '@recordbus/storage';
import { loadTokenSecret, secretFileOf } from '@recordbus/tokens';
import type pg from 'pg';
import { cliActor } from '../cli-actor.ts';
import { findServers } from '../deployment/find-servers.ts';
import { holdCommandLock } from '../deployment/hold-command-lock.ts';
import { connectForCommand } from '../deployment/short-lived-bus.ts';
import { requireTables } from '../deployment/table-version.ts';
import type { CommandParts, CommonOptions } from '../run-command.ts';

export interface CreateOptions extends CommonOptions {
  /** False with --no-secret. */
  readonly secret: boolean;
}

/** Stands for standard output. */
const standardStream = '-';

const defaultFileName = (): string => `recordbus-${new Date().toISOString().replaceAll(/[-:]|\..*/g, '')}.tar.gz`;

/** Writes an archive to a new file or to standard output. Throws CommandFailure when it cannot. */
export async function writeBackup(
  parts: CommandParts,
  file: string = defaultFileName(),
  { secret }: CreateOptions,
): Promise<undefined> {
  const { config, key, terminal, lifecycle } = parts;
  const hasSecretFile = config.jwtSecret === undefined && existsSync(secretFileOf(config.dataDirectory));
  const { databaseUrl, natsUrl } = await findServers(parts, { bus: true });
  const client = await holdCommandLock(parts, databaseUrl);
  await requireTables(client);
  const processedUpTo =
    natsUrl === undefined ? null : await findProcessedSequence(await connectForCommand(parts, natsUrl));
  const files = config.storageUrl === undefined ? await openStorage(config) : undefined;
  const write = (output: Writable): Promise<BackupResult> =>
    createBackup(client, {
      output,
      files,
      secret: secret && hasSecretFile ? loadTokenSecret({ dataDirectory: config.dataDirectory }) : undefined,
      key: secret && key.place === 'file' ? key.text : undefined,
      processedUpTo,
      onMissing: (path) => terminal.note(`The file ${path} is missing.`),
    });
  const isWithKeys = secret && (hasSecretFile || key.place === 'file');
  if (file === standardStream) {
    await note(parts, client, await write(process.stdout), isWithKeys);
    return;
  }
  const draft = `${file}.part`;
  if (existsSync(file)) throw new CommandFailure(`${file} already exists.`);
  lifecycle.onStop('unfinished archive', () => rm(draft, { force: true }));
  // Opened before anything is written: an unhandled stream error would end the process without a message.
  const refuse = (error: unknown): never => {
    if (!isSystemError(error)) throw error;
    throw new CommandFailure(`${file} cannot be written: ${error.message}.`);
  };
  const opened = await open(draft, 'w', 0o600).catch(refuse);
  const outcome = await write(opened.createWriteStream({ flush: true })).catch(refuse);
  await rename(draft, file);
  await note(parts, client, outcome, isWithKeys);
  terminal.report({ file: resolve(file), ...outcome }, summarize(file, outcome));
}

/** Adds a backup's audit row. The backup is complete without it, so a failure is only reported. */
async function note(
  { terminal }: CommandParts,
  client: pg.Client,
  { tables, rows, files }: BackupResult,
  hasKeys: boolean,
): Promise<void> {
  try {
    await recordAudit(async ({ text, values }) => (await client.query(text, [...values])).rows, {
      action: 'backups.create',
      ...cliActor,
      details: { tables, rows, files, keys: hasKeys },
    });
  } catch (error) {
    terminal.note(`The backup is complete, but the audit log has no row for it: ${String(error)}`);
  }
}

const summarize = (file: string, { tables, rows, files, missing_files }: BackupResult): string =>
  [
    `${file} holds ${rows} rows in ${tables} tables and ${files} files.`,
    ...(missing_files.length > 0 ? [`${missing_files.length} files that records name are missing.`] : []),
  ].join('\n');
