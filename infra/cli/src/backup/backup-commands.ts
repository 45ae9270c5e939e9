import type { Command } from 'commander';
import { loadAndRun } from '../load-and-run.ts';
import type { CommonOptions } from '../run-command.ts';
import type { CreateOptions } from './write-backup.ts';

interface RestoreOptions extends CommonOptions {
  readonly force?: boolean;
}

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
      loadAndRun('backup create', options, async (parts) =>
        (await import('./write-backup.ts')).writeBackup(parts, file, options),
      ),
    );
  backup
    .command('restore')
    .description('make a deployment from an archive; the services have to be stopped')
    .argument('<file>', 'the archive')
    .option('--force', 'replace what the database and the data directory hold')
    .option('--json', 'write the outcome as JSON')
    .action((file: string, { force = false, ...options }: RestoreOptions) =>
      loadAndRun('backup restore', options, async (parts) =>
        (await import('./restore-deployment.ts')).restoreDeployment(parts, file, force),
      ),
    );
}

const createHelp = `
The archive holds password hashes and, unless it is left out, the secret that signs tokens: keep it where only operators
read. Files in an S3-compatible store and SERVICE_ENCRYPTION_KEY are not in it.`;
