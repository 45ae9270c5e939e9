import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { type Command, Option } from 'commander';
import { openDeployment } from '../deployment/open-deployment.ts';
import { CommandFailure } from '../failure.ts';
import { type CommandParts, type CommonOptions, runCommand } from '../run-command.ts';
import { writeWhole } from '../write-whole.ts';

interface ApplyOptions extends CommonOptions {
  readonly mode: 'additive' | 'sync';
  readonly dryRun?: boolean;
}

const standardStream = '-';

/** `snapshot export` and `snapshot apply`. */
export function addSnapshotCommands(program: Command): void {
  const snapshot = program.command('snapshot').description("the schema: every collection's definition as one document");
  snapshot
    .command('export')
    .description('write the snapshot that GET /api/v1/admin/migrations/snapshot gives')
    .argument('[file]', 'where to; - is standard output', standardStream)
    .option('--json', 'write refusals as JSON')
    .action((file: string, options: CommonOptions) =>
      runCommand('snapshot export', options, (parts) => exportSnapshot(parts, file)),
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
      runCommand('snapshot apply', options, (parts) => applyFile(parts, file, options)),
    );
}

async function exportSnapshot(parts: CommandParts, file: string): Promise<undefined> {
  const { database } = await openDeployment(parts);
  const { exportSnapshot: take } = await import('@recordbus/admin');
  const document = `${JSON.stringify(await take(database, nowSec()), undefined, 2)}\n`;
  if (file === standardStream) process.stdout.write(document);
  else await writeWhole(file, document);
}

async function applyFile(
  parts: CommandParts,
  file: string,
  { mode, dryRun = false }: ApplyOptions,
): Promise<undefined> {
  const document = await readDocument(file);
  const { database, bus } = await openDeployment(parts);
  const { applySnapshotDocument } = await import('@recordbus/admin');
  const author = { context: 'system', userAgent: 'recordbus cli' } as const;
  const applied = await applySnapshotDocument(
    { database, bus },
    { snapshot: document, mode },
    nowSec(),
    author,
    dryRun,
  );
  const lines = (['created', 'updated', 'unchanged'] as const).map(
    (outcome) => `${outcome}: ${applied[outcome].join(', ') || 'none'}`,
  );
  const title = dryRun ? ['Nothing was changed. The snapshot would leave:'] : [];
  parts.terminal.report({ ...applied, dry_run: dryRun }, [...title, ...lines].join('\n'));
}

async function readDocument(file: string): Promise<unknown> {
  try {
    return JSON.parse(file === standardStream ? await text(process.stdin) : await readFile(file, 'utf8'));
  } catch (error) {
    throw new CommandFailure(`${file} can't be read as a snapshot: ${error instanceof Error ? error.message : error}.`);
  }
}

const nowSec = (): number => Math.floor(Date.now() / 1000);
