import type { Command } from 'commander';
import { loadAndRun } from '../load-and-run.ts';
import type { TypesOptions } from './write-types.ts';

/** `types`. */
export function addTypesCommand(program: Command): void {
  program
    .command('types')
    .description('write TypeScript types for the collections: recordbus types > recordbus.d.ts')
    .argument('[file]', 'output file; - is standard output', '-')
    .option('--url <url>', 'read the running stack at this address; also writes its extension routes')
    .option('--key <token>', 'an admin token or a service key, for --url; SERVICE_KEY by default')
    .option('--check', 'write nothing; exit with 1 if the file is not up to date')
    .option('--json', 'write errors as JSON')
    .action((file: string, options: TypesOptions) =>
      loadAndRun('types', options, async (parts) =>
        (await import('./write-types.ts')).writeTypes(parts, file, options),
      ),
    );
}
