import { type Command, Option } from 'commander';
import { loadAndRun } from '../load-and-run.ts';
import type { ImportOptions } from './options.ts';

const listOf = (text: string): readonly string[] => text.split(',').filter((name) => name !== '');

/** `import pocketbase`. */
export function addImportCommands(program: Command): void {
  program
    .command('import')
    .description('move an app in from another product')
    .command('pocketbase')
    .description(
      'move in from PocketBase 0.23 to 0.40: collections, rules, records, files and users. Again: what changed',
    )
    .argument('<pb_data>', "PocketBase's data directory, which is only read")
    .option('--url <url>', 'address of a running stack; by default the one in the data directory')
    .option('--key <key>', 'service key with the scope admin; by default SERVICE_KEY, else one for this command')
    .option('--dry-run', 'show the plan and write nothing; exit code 2 when there is something to do')
    .option('--report <file>', 'where to write the report: .html or .json')
    .option('--only <collections>', 'the collections to take, separated by commas', listOf)
    .option('--map <file>', 'a JSON file with new names of collections: {"old": "new"}')
    .addOption(
      new Option(
        '--files <where>',
        "where PocketBase's files are: in its directory, or in the bucket that its settings name",
      )
        .choices(['copy', 's3'])
        .default('copy'),
    )
    .option(
      '--encryption-env <name>',
      "the environment variable with the key of PocketBase's settings, if they are encrypted",
      'PB_ENCRYPTION_KEY',
    )
    .addOption(
      new Option('--views <how>', 'whether to try views, whose SQL is rewritten')
        .choices(['try', 'skip'])
        .default('try'),
    )
    .addOption(
      new Option('--sessions <how>', 'whether users stay signed in with the tokens that they have')
        .choices(['keep', 'end'])
        .default('keep'),
    )
    .addOption(
      new Option('--superusers <how>', 'whether superusers become admins, on the data directory')
        .choices(['take', 'skip'])
        .default('take'),
    )
    .option('--events', 'write an event for each record, which webhooks and live clients get')
    .option('--state <file>', 'notes what has moved, for the next run; by default <pb_data>.recordbus')
    .option('--resume', 'refuse a run without the notes of an earlier one')
    .option('--json', 'write the report and errors as JSON')
    .action((directory: string, options: ImportOptions) =>
      loadAndRun('import pocketbase', options, async (parts) =>
        (await import('./move-in.ts')).importPocketBase(parts, directory, options),
      ),
    );
}
