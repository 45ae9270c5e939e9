import { existsSync } from 'node:fs';
import { replaceTokenSecret, secretFileOf } from '@recordbus/tokens';
import { CommandFailure } from '../failure.ts';
import type { CommandParts } from '../run-command.ts';

/** Replaces the secret file. Throws a sentence where the secret is a variable, or there is no file. */
export async function rotateSecret({ config, terminal }: CommandParts): Promise<undefined> {
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
