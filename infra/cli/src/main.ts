import { Command, CommanderError } from 'commander';
import { addAdminCommands } from './admin/admin-commands.ts';
import { addAnalystCommands } from './analysts/analyst-commands.ts';
import { addBackupCommands } from './backup/backup-commands.ts';
import { addDatabaseCommands } from './database/database-commands.ts';
import { addDoctorCommand } from './doctor/doctor-command.ts';
import { addEncryptionCommands } from './encryption/encryption-commands.ts';
import { exitCodes } from './exit-codes.ts';
import { addKeyCommands } from './keys/key-commands.ts';
import { watchOutput } from './output-end.ts';
import { addImportCommands } from './pocketbase/pocketbase-commands.ts';
import { addRecordsCommands } from './records/records-commands.ts';
import { addSchemaCommands } from './schema/schema-commands.ts';
import { addSecretCommands } from './secret/secret-commands.ts';
import { addSnapshotCommands } from './snapshot/snapshot-commands.ts';
import { addTypesCommand } from './types/types-command.ts';

watchOutput();

const program = new Command('recordbus')
  .description('Manages a Recordbus deployment.')
  .configureHelp({ showGlobalOptions: true })
  .showHelpAfterError('(--help lists commands and options)')
  .exitOverride()
  .addHelpText(
    'after',
    `
Uses the servers that SERVICE_DATABASE_URL and SERVICE_NATS_URL name. Without them it uses the data directory
(SERVICE_DATA_DIR, by default ./data): the servers of the stack that runs there or, when none does, the database, which is
started for the command. Exit codes: 0 done, 1 failed or refused, 2 invalid command line (1 for schema), 78 invalid
variable, 128 + n stopped by signal n, 141 when the reader of the output goes away.`,
  );

addAdminCommands(program);
addKeyCommands(program);
addAnalystCommands(program);
addSecretCommands(program);
addEncryptionCommands(program);
addSnapshotCommands(program);
addTypesCommand(program);
addSchemaCommands(program);
addRecordsCommands(program);
addImportCommands(program);
addBackupCommands(program);
addDatabaseCommands(program);
addDoctorCommand(program);

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  // There 2 would say that a plan has changes (schema §7.3, move §1.3).
  const usage = ['schema', 'import'].includes(process.argv[2] ?? '') ? exitCodes.failed : exitCodes.usage;
  // A group without its command prints help too, but is an error.
  process.exitCode = error.exitCode === 0 ? exitCodes.done : usage;
}
