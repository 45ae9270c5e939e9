import { Command, CommanderError } from 'commander';
import { addAdminCommands } from './admin/admin-commands.ts';
import { addBackupCommands } from './backup/backup-commands.ts';
import { addDoctorCommand } from './doctor/doctor-command.ts';
import { addEncryptionCommands } from './encryption/encryption-commands.ts';
import { exitCodes } from './failure.ts';
import { addSecretCommands } from './secret/secret-commands.ts';
import { addSnapshotCommands } from './snapshot/snapshot-commands.ts';

const program = new Command('recordbus')
  .description('Looks after a Recordbus deployment.')
  .configureHelp({ showGlobalOptions: true })
  .showHelpAfterError('(--help says what there is)')
  .exitOverride()
  .addHelpText(
    'after',
    `
Works on what SERVICE_DATABASE_URL and SERVICE_NATS_URL name. Without them, on the data directory (SERVICE_DATA_DIR, by
default ./data): with the servers of the stack that runs there, or, when none does, with the database started for the
command. Exit codes: 0 done, 1 failed or refused, 2 a command line that can't be read, 78 a variable that can't be used,
128 + n stopped by signal n.`,
  );

addAdminCommands(program);
addSecretCommands(program);
addEncryptionCommands(program);
addSnapshotCommands(program);
addBackupCommands(program);
addDoctorCommand(program);

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  // Help that was asked for is no error; a group without its command prints help and is one.
  process.exitCode = error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
}
