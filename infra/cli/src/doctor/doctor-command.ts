import { type Command, InvalidArgumentError } from 'commander';
import { loadAndRun } from '../load-and-run.ts';
import type { DoctorOptions } from './look-at-all.ts';

/** `doctor`. */
export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('look at the database, bus, clocks, disk, keys and versions; changes nothing')
    .option('--min-free <GiB>', 'call a disk with less room at the data directory broken', readGibibytes)
    .option('--json', 'write the findings as JSON')
    .addHelpText('after', '\nThe exit code is 1 when something is broken, and 0 when there are only warnings.')
    .action((options: DoctorOptions) =>
      loadAndRun('doctor', options, async (parts) => (await import('./look-at-all.ts')).lookAtAll(parts, options)),
    );
}

function readGibibytes(given: string): number {
  const gibibytes = Number(given);
  if (!(gibibytes >= 0 && gibibytes < Number.POSITIVE_INFINITY) || given.trim() === '')
    throw new InvalidArgumentError('It has to be a number of GiB.');
  return gibibytes;
}
