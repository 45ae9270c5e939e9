import type { Command } from 'commander';
import { loadAndRun } from '../load-and-run.ts';
import type { CommonOptions } from '../run-command.ts';

/** `database upgrade`. */
export function addDatabaseCommands(program: Command): void {
  program
    .command('database')
    .description("the data directory's PostgreSQL")
    .command('upgrade')
    .description("move the data directory's database to this version's PostgreSQL; the stack must be stopped")
    .option('--json', 'write the result as JSON')
    .addHelpText('after', upgradeHelp)
    .action((options: CommonOptions) =>
      loadAndRun('database upgrade', options, async (parts) =>
        (await import('./upgrade-database.ts')).upgradeDatabase(parts),
      ),
    );
}

const upgradeHelp = `
npm installs the older PostgreSQL for it. The old database stays in the data directory, in postgres/cluster-<version>: delete
it when the new one works. A killed upgrade changes nothing: run it again.`;
