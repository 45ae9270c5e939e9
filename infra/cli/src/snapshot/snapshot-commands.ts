import { type Command, Option } from 'commander';
import { loadAndRun } from '../load-and-run.ts';
import type { CommonOptions } from '../run-command.ts';
import type { ApplyOptions } from './transfer-snapshot.ts';

/** `snapshot export` and `snapshot apply`. */
export function addSnapshotCommands(program: Command): void {
  const snapshot = program.command('snapshot').description('the schema: all collection definitions in one document');
  snapshot
    .command('export')
    .description('write the snapshot that GET /api/v1/admin/migrations/snapshot returns')
    .argument('[file]', 'output file; - is standard output', '-')
    .option('--json', 'write errors as JSON')
    .action((file: string, options: CommonOptions) =>
      loadAndRun('snapshot export', options, async (parts) =>
        (await import('./transfer-snapshot.ts')).exportToFile(parts, file),
      ),
    );
  snapshot
    .command('apply')
    .description('apply a snapshot, all or nothing, as POST /api/v1/admin/migrations/apply does; drops nothing')
    .argument('<file>', 'the snapshot; - is standard input')
    .addOption(
      new Option('--mode <mode>', 'additive creates missing collections, sync also changes existing ones')
        .choices(['additive', 'sync'])
        .default('additive'),
    )
    .option('--dry-run', 'apply it in a transaction that is rolled back, and report the result')
    .option('--json', 'write the result as JSON')
    .action((file: string, options: ApplyOptions) =>
      loadAndRun('snapshot apply', options, async (parts) =>
        (await import('./transfer-snapshot.ts')).applyFile(parts, file, options),
      ),
    );
}
