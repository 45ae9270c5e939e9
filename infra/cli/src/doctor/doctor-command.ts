import type { Command } from 'commander';
import { loadAndRun } from '../load-and-run.ts';
import type { CommonOptions } from '../run-command.ts';

/** `doctor`. */
export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('look at the database, bus, clocks, disk, keys and versions; changes nothing')
    .option('--json', 'write the findings as JSON')
    .addHelpText('after', '\nThe exit code is 1 when something is broken, and 0 when there are only warnings.')
    .action((options: CommonOptions) =>
      loadAndRun('doctor', options, async (parts) => (await import('./look-at-all.ts')).lookAtAll(parts)),
    );
}
