import { createWriteStream, existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { secretFileOf } from '@recordbus/tokens';
import type { Command } from 'commander';
import { findServers } from '../deployment/find-servers.ts';
import { holdCommandLock } from '../deployment/hold-command-lock.ts';
import { CommandFailure } from '../failure.ts';
import { type CommandParts, type CommonOptions, runCommand } from '../run-command.ts';
import { type BackupOutcome, createBackup } from './create-backup.ts';
import { findHandedOut } from './handed-out.ts';
import { restoreDeployment } from './restore-deployment.ts';

interface CreateOptions extends CommonOptions {
  /** False with --no-secret. */
  readonly secret: boolean;
}

interface RestoreOptions extends CommonOptions {
  readonly force?: boolean;
}

const standardStream = '-';

/** `backup create` and `backup restore`. */
export function addBackupCommands(program: Command): void {
  const backup = program.command('backup').description('database, uploaded files and secret file as one archive');
  backup
    .command('create')
    .description('write an archive while the services go on: everything in it is of one moment')
    .argument('[file]', 'where to; - is standard output (default: recordbus-<time>.tar.gz)')
    .option('--no-secret', 'leave the secret file out')
    .option('--json', 'write the outcome as JSON')
    .addHelpText('after', createHelp)
    .action((file: string | undefined, options: CreateOptions) =>
      runCommand('backup create', options, (parts) => create(parts, file ?? fileOfNow(), options)),
    );
  backup
    .command('restore')
    .description('make a deployment from an archive; the services have to be stopped')
    .argument('<file>', 'the archive')
    .option('--force', 'replace what the database and the data directory hold')
    .option('--json', 'write the outcome as JSON')
    .action((file: string, { force = false, ...options }: RestoreOptions) =>
      runCommand('backup restore', options, (parts) => restoreDeployment(parts, file, force)),
    );
}

const createHelp = `
The archive holds password hashes and, unless it is left out, the secret that signs tokens: keep it where only operators
read. Files in an S3-compatible store and SERVICE_ENCRYPTION_KEY are not in it.`;

const fileOfNow = (): string => `recordbus-${new Date().toISOString().replaceAll(/[-:]|\..*/g, '')}.tar.gz`;

async function create(parts: CommandParts, file: string, { secret }: CreateOptions): Promise<undefined> {
  const { config, terminal, lifecycle } = parts;
  const hasSecretFile = config.jwtSecret === undefined && existsSync(secretFileOf(config.dataDirectory));
  const { databaseUrl, natsUrl } = await findServers(parts, { bus: true });
  const client = await holdCommandLock(parts, databaseUrl);
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
  const outcome = await write(createWriteStream(draft, { mode: 0o600, flush: true }));
  await rename(draft, file);
  terminal.report({ file: resolve(file), ...outcome }, sumUp(file, outcome));
}

const sumUp = (file: string, { tables, rows, files, missing_files }: BackupOutcome): string =>
  [
    `${file} holds ${rows} rows of ${tables} tables and ${files} files.`,
    ...(missing_files.length > 0 ? [`${missing_files.length} files that records name were not there.`] : []),
  ].join('\n');
