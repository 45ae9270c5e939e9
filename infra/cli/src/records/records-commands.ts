import { type Command, Option } from 'commander';
import { loadAndRun } from '../load-and-run.ts';
import type { ExportOptions, ImportOptions } from './options.ts';

const formats = ['csv', 'ndjson', 'json'];

/** `records export` and `records import`. */
export function addRecordsCommands(program: Command): void {
  const records = program.command('records').description("export a collection's records to a file, or import them");
  const add = (name: string, description: string) =>
    records
      .command(name)
      .description(description)
      .argument('<collection>', 'collection name')
      .option('--url <url>', 'address of a running stack; by default the one in the data directory')
      .option('--key <key>', 'service key or token; by default SERVICE_KEY, else the command is a guest')
      .addOption(new Option('--format <format>', 'by default from the file name').choices(formats))
      .option('--json', 'write the result and errors as JSON');
  add('export', 'write all records that the key may list into a file; an export that breaks off leaves no file')
    .argument('<file>', 'output file, compressed if its name ends in .gz; - is standard output')
    .option('--filter <filter>', 'an expression that selects records')
    .option('--sort <fields>', 'fields to sort by, separated by commas; - before a name sorts descending')
    .option('--fields <members>', 'members to write, separated by commas')
    .option('--expand <relations>', 'relations whose records are included in each record')
    .option('--bom', 'begin CSV with a byte order mark, for Excel')
    .option('--raw', 'do not escape texts that a spreadsheet would run as formulas')
    .action((collection: string, file: string, options: ExportOptions) =>
      loadAndRun('records export', options, async (parts) =>
        (await import('./export-records.ts')).exportRecords(parts, collection, file, options),
      ),
    );
  add('import', 'import a file as a job, and follow it to its end; exit code 3 when rows were refused')
    .argument('<file>', 'input file, compressed if its name ends in .gz; - is standard input')
    .addOption(new Option('--mode <mode>', 'for records that already exist').choices(['insert', 'upsert', 'skip']))
    .option('--on <fields>', 'id or unique fields, by which upsert and skip find records')
    .option('--map <json>', 'a JSON object from columns to fields; null leaves a column out')
    .option('--keep <members>', 'which of id,created,updated to take from the file')
    .option('--dry-run', 'check the file without writing')
    .addOption(new Option('--events <events>', 'none writes without events; audited').choices(['none']))
    .option('--separator <character>', 'the character between CSV cells')
    .option('--null <text>', 'the CSV cell that means null')
    .addOption(
      new Option('--encoding <encoding>', 'file encoding').choices(['utf-8', 'utf-16le', 'utf-16be', 'latin1']),
    )
    .addOption(
      new Option('--dates <order>', 'order in numeric dates: 2026-01-31, 01/31/2026 or 31.01.2026').choices([
        'iso',
        'mdy',
        'dmy',
      ]),
    )
    .option('--refused <file>', 'where to write refused rows; by default next to the file')
    .option('--cancel', "cancel this file's job instead of continuing it")
    .addHelpText('after', importHelp)
    .action((collection: string, file: string, options: ImportOptions) =>
      loadAndRun('records import', options, async (parts) =>
        (await import('./import-records.ts')).importRecords(parts, collection, file, options),
      ),
    );
}

const importHelp = `
Ctrl-C pauses the job. The same command continues it: <file>.import says which job it is, until the job has ended.`;
