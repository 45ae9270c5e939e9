import { type Command, Option } from 'commander';
import { loadAndRun } from '../load-and-run.ts';
import type { CommonOptions } from '../run-command.ts';
import type { ApplyOptions } from './transfer-snapshot.ts';

/** `snapshot export` and `snapshot apply`. */
export function addSnapshotCommands(program: Command): void {
  const snapshot = program.command('snapshot').description("the schema: every collection's definition as one document");
  snapshot
    .command('export')
    .description('write the snapshot that GET /api/v1/admin/migrations/snapshot gives')
    .argument('[file]', 'where to; - is standard output', '-')
    .option('--json', 'write refusals as JSON')
    .action((file: string, options: CommonOptions) =>
      loadAndRun('snapshot export', options, async (parts) =>
        (await import('./transfer-snapshot.ts')).exportToFile(parts, file),
      ),
    );
  snapshot
    .command('apply')
    .description(
      'apply a snapshot, all of it or nothing, as POST /api/v1/admin/migrations/apply does; nothing is dropped',
    )
    .argument('<file>', 'the snapshot; - is standard input')
    .addOption(
      new Option('--mode <mode>', 'additive makes what is missing, sync also changes what exists')
        .choices(['additive', 'sync'])
        .default('additive'),
    )
    .option('--dry-run', 'apply it in a transaction that is taken back: tells what would happen')
    .option('--json', 'write the outcome as JSON')
    .action((file: string, options: ApplyOptions) =>
      loadAndRun('snapshot apply', options, async (parts) =>
        (await import('./transfer-snapshot.ts')).applyFile(parts, file, options),
      ),
    );
}
