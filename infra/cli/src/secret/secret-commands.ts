import { existsSync } from 'node:fs';
import { replaceTokenSecret, secretFileOf } from '@recordbus/tokens';
import type { Command } from 'commander';
import { CommandFailure } from '../failure.ts';
import { type CommandParts, type CommonOptions, runCommand } from '../run-command.ts';

/** `secret rotate`. */
export function addSecretCommands(program: Command): void {
  program
    .command('secret')
    .description('the secret that signs tokens')
    .command('rotate')
    .description('replace the secret file: the next start of the services ends every token and session')
    .option('--json', 'write the outcome as JSON')
    .action((options: CommonOptions) => runCommand('secret rotate', options, rotate));
}

async function rotate({ config, terminal }: CommandParts): Promise<undefined> {
  const { dataDirectory, jwtSecret } = config;
  const file = secretFileOf(dataDirectory);
  if (jwtSecret !== undefined)
    throw new CommandFailure(
      'The secret is the value of SERVICE_JWT_SECRET: put another one there, for all services, and start them again.',
    );
  if (!existsSync(file))
    throw new CommandFailure(`There is no secret file ${file}: name the data directory in SERVICE_DATA_DIR.`);
  replaceTokenSecret(dataDirectory);
  terminal.report(
    { file, restart_required: true },
    `${file} has another secret. Start the services again: from then on every token and session from before is void.`,
  );
}
