import { existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { secretFileOf } from '@recordbus/tokens';
import { findServers } from '../deployment/find-servers.ts';
import { holdCommandLock } from '../deployment/hold-command-lock.ts';
import { requireTables } from '../deployment/table-version.ts';
import { CommandFailure, isSystemError } from '../failure.ts';
import type { CommandParts, CommonOptions } from '../run-command.ts';
import { type BackupOutcome, createBackup } from './create-backup.ts';
import { findHandedOut } from './handed-out.ts';

export interface CreateOptions extends CommonOptions {
  /** False with --no-secret. */
  readonly secret: boolean;
}

/** In the place of a file: standard output. */
const standardStream = '-';

const fileOfNow = (): string => `recordbus-${new Date().toISOString().replaceAll(/[-:]|\..*/g, '')}.tar.gz`;

/** Writes an archive to a file that is not there yet, or to standard output. Throws a sentence when it can't. */
export async function writeBackup(
  parts: CommandParts,
  file: string = fileOfNow(),
  { secret }: CreateOptions,
): Promise<undefined> {
  const { config, terminal, lifecycle } = parts;
  const hasSecretFile = config.jwtSecret === undefined && existsSync(secretFileOf(config.dataDirectory));
  const { databaseUrl, natsUrl } = await findServers(parts, { bus: true });
  const client = await holdCommandLock(parts, databaseUrl);
  await requireTables(client);
  const handedOutUpTo = await findHandedOut(parts, natsUrl);
  const write = (output: Writable): Promise<BackupOutcome> =>
    createBackup(parts, client, { output, withSecret: secret && hasSecretFile, handedOutUpTo });
  if (file === standardStream) {
    await write(process.stdout);
    return;
  }
  const draft = `${file}.part`;
  if (existsSync(file)) throw new CommandFailure(`${file} is there already.`);
  lifecycle.onStop('unfinished archive', () => rm(draft, { force: true }));
  // Opened before anything is written: the error of a stream that nobody reads from yet would end the process wordless.
  const refuse = (error: unknown): never => {
    if (!isSystemError(error)) throw error;
    throw new CommandFailure(`${file} can't be written: ${error.message}.`);
  };
  const opened = await open(draft, 'w', 0o600).catch(refuse);
  const outcome = await write(opened.createWriteStream({ flush: true })).catch(refuse);
  await rename(draft, file);
  terminal.report({ file: resolve(file), ...outcome }, sumUp(file, outcome));
}

const sumUp = (file: string, { tables, rows, files, missing_files }: BackupOutcome): string =>
  [
    `${file} holds ${rows} rows of ${tables} tables and ${files} files.`,
    ...(missing_files.length > 0 ? [`${missing_files.length} files that records name were not there.`] : []),
  ].join('\n');
