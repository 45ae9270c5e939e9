import type { Command } from 'commander';
import { loadAndRun } from '../load-and-run.ts';
import type { CommonOptions } from '../run-command.ts';
import type { CreateOptions } from './change-keys.ts';

/** `keys create`, `keys list` and `keys revoke`. */
export function addKeyCommands(program: Command): void {
  const keys = program.command('keys').description('service keys, with which machines call the API');
  keys
    .command('create')
    .description('create a key and write it to standard output, and nowhere else')
    .argument('<name>', 'what the key is for')
    .requiredOption('--scope <scope...>', 'what the key may do, such as records:posts:read or admin')
    .option('--expires-in <days>', 'days until the key expires; by default it never does')
    .option('--cidr <network...>', 'a network that may use the key; by default any may')
    .option('--rate-label <label>', "the key's label in rate rules")
    .option('--json', 'write the key and its members as JSON')
    .action((name: string, options: CreateOptions) =>
      loadAndRun('keys create', options, async (parts) =>
        (await import('./change-keys.ts')).create(parts, name, options),
      ),
    );
  keys
    .command('list')
    .description('list the keys, newest first')
    .option('--json', 'write the keys as JSON')
    .action((options: CommonOptions) =>
      loadAndRun('keys list', options, async (parts) => (await import('./change-keys.ts')).list(parts)),
    );
  keys
    .command('revoke')
    .description('revoke a key: it is refused within a second')
    .argument('<id>', "the key's id, or rbk_ and the id")
    .option('--json', 'write the result as JSON')
    .action((id: string, options: CommonOptions) =>
      loadAndRun('keys revoke', options, async (parts) => (await import('./change-keys.ts')).revoke(parts, id)),
    );
}
