import type { Command } from 'commander';
import { loadAndRun } from '../load-and-run.ts';
import type { RestoreOptions } from './restore-deployment.ts';
import type { CreateOptions } from './write-backup.ts';

/** `backup create` and `backup restore`. */
export function addBackupCommands(program: Command): void {
  const backup = program
    .command('backup')
    .description('the database, uploaded files, secret file and key file as one archive');
  backup
    .command('create')
    .description('write a consistent archive while the services run')
    .argument('[file]', 'output file; - is standard output (default: recordbus-<time>.tar.gz)')
    .option('--no-secret', 'leave the secret file and the key file out')
    .option('--json', 'write the result as JSON')
    .addHelpText('after', createHelp)
    .action((file: string | undefined, options: CreateOptions) =>
      loadAndRun('backup create', options, async (parts) =>
        (await import('./write-backup.ts')).writeBackup(parts, file, options),
      ),
    );
  backup
    .command('restore')
    .description('restore a deployment from an archive; the services must be stopped')
    .argument('<file>', 'the archive')
    .option('--force', 'replace what the database and the data directory contain')
    .option('--no-secret', "leave the archive's secret file and key file out")
    .option('--json', 'write the result as JSON')
    .action((file: string, options: RestoreOptions) =>
      loadAndRun('backup restore', options, async (parts) =>
        (await import('./restore-deployment.ts')).restoreDeployment(parts, file, options),
      ),
    );
}

const createHelp = `
The archive holds password hashes and, unless left out, the secret that signs tokens and the encryption key: keep it where
only operators can read it. It does not hold files in an S3-compatible store or SERVICE_ENCRYPTION_KEY.`;
