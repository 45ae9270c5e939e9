import type { Command } from 'commander';
import { loadAndRun } from '../load-and-run.ts';
import type { CommonOptions } from '../run-command.ts';

/** `secret rotate`. */
export function addSecretCommands(program: Command): void {
  program
    .command('secret')
    .description('the secret that signs tokens')
    .command('rotate')
    .description('replace the secret file: the next service start ends all tokens and sessions')
    .option('--json', 'write the result as JSON')
    .action((options: CommonOptions) =>
      loadAndRun('secret rotate', options, async (parts) => (await import('./rotate-secret.ts')).rotateSecret(parts)),
    );
}
