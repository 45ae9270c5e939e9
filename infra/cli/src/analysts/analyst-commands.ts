import type { Command } from 'commander';
import { loadAndRun } from '../load-and-run.ts';
import type { CommonOptions } from '../run-command.ts';
import type { AnalystOptions } from './change-analysts.ts';

/** `analyst create`, `analyst list` and `analyst drop`. */
export function addAnalystCommands(program: Command): void {
  const analysts = program.command('analyst').description('database roles that read the collections with SQL');
  const asRole = [
    '--as <url>',
    'the database as a role that may create roles; not needed with a data directory',
  ] as const;
  analysts
    .command('create')
    .description('create a role that reads a view for each collection, and write its URL to standard output')
    .argument('<name>', 'role name')
    .option(...asRole)
    .option('--json', 'write the role and its URL as JSON')
    .action((name: string, options: AnalystOptions) =>
      loadAndRun('analyst create', options, async (parts) =>
        (await import('./change-analysts.ts')).create(parts, name, options),
      ),
    );
  analysts
    .command('list')
    .description('list the roles')
    .option('--json', 'write the roles as JSON')
    .action((options: CommonOptions) =>
      loadAndRun('analyst list', options, async (parts) => (await import('./change-analysts.ts')).list(parts)),
    );
  analysts
    .command('drop')
    .description('drop a role and end its connections')
    .argument('<name>', 'role name')
    .option(...asRole)
    .option('--json', 'write the result as JSON')
    .action((name: string, options: AnalystOptions) =>
      loadAndRun('analyst drop', options, async (parts) =>
        (await import('./change-analysts.ts')).drop(parts, name, options),
      ),
    );
}
