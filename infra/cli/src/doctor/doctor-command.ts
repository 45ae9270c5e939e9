import { type Command, InvalidArgumentError } from 'commander';
import { loadAndRun } from '../load-and-run.ts';
import type { DoctorOptions } from './run-doctor.ts';

/** `doctor`. */
export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('check the database, bus, clocks, disk, keys and versions; changes nothing')
    .option('--min-free <GiB>', 'report the data disk as broken below this free space', readGibibytes)
    .option('--json', 'write the findings as JSON')
    .addHelpText('after', '\nThe exit code is 1 when something is broken, and 0 when there are only warnings.')
    .action((options: DoctorOptions) =>
      loadAndRun('doctor', options, async (parts) => (await import('./run-doctor.ts')).runDoctor(parts, options)),
    );
}

function readGibibytes(given: string): number {
  const gibibytes = Number(given);
  if (!(gibibytes >= 0 && gibibytes < Number.POSITIVE_INFINITY) || given.trim() === '')
    throw new InvalidArgumentError('It must be a number of GiB.');
  return gibibytes;
}
