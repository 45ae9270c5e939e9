import type { Command } from 'commander';
import type { TargetOptions } from '../api/target-options.ts';
import { loadAndRun } from '../load-and-run.ts';
import type { ApplyOptions, PlanOptions } from './options.ts';

const directoryHelp = 'directory with the schema files';
const defaultDirectory = 'schema';

/** `schema pull`, `plan`, `apply` and `check`. */
export function addSchemaCommands(program: Command): void {
  const schema = program.command('schema').description('the schema as files: collections, webhooks, settings');
  const add = (text: string, description: string) =>
    schema
      .command(text)
      .description(description)
      .option('--url <url>', 'address of a running stack; without it, the database is used')
      .option('--key <key>', 'service key for --url; by default SERVICE_KEY')
      .option('--json', 'write the result and errors as JSON');
  add('pull', "write the stack's schema into files")
    .argument('[directory]', directoryHelp, defaultDirectory)
    .action((directory: string, options: TargetOptions) =>
      loadAndRun('schema pull', options, async (parts) => (await import('./pull.ts')).pull(parts, directory, options)),
    );
  add('plan', 'report what an apply would change, and write it into a plan; exit code 2 with changes')
    .argument('[directory]', directoryHelp, defaultDirectory)
    .option('--out <file>', 'plan file', 'plan.json')
    .action((directory: string, options: PlanOptions) =>
      loadAndRun('schema plan', options, async (parts) => (await import('./plan.ts')).plan(parts, directory, options)),
    );
  add('apply', 'apply a plan, all or nothing; exit code 3 if the schema has changed since')
    .argument('[plan]', 'plan file', 'plan.json')
    .option('--allow-drop <name>', 'allow this drop: posts, posts.subtitle, webhooks/CRM; repeatable', collect, [])
    .action((file: string, options: ApplyOptions) =>
      loadAndRun('schema apply', options, async (parts) => (await import('./apply.ts')).apply(parts, file, options)),
    );
  add('check', 'like plan, but write no file; exit code 2 if the stack and the files differ')
    .argument('[directory]', directoryHelp, defaultDirectory)
    .action((directory: string, options: TargetOptions) =>
      loadAndRun('schema check', options, async (parts) => (await import('./plan.ts')).plan(parts, directory, options)),
    );
}

const collect = (name: string, names: readonly string[]): string[] => [...names, name];
