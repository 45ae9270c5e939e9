import { existsSync } from 'node:fs';
import { CommandFailure } from '@recordbus/stack-calls';
import { replaceTokenSecret, secretFileOf } from '@recordbus/tokens';
import type { CommandParts } from '../run-command.ts';

/** Replaces the secret file. Throws CommandFailure when a variable holds the secret or there is no file. */
export async function rotateSecret({ config, terminal }: CommandParts): Promise<undefined> {
  const { dataDirectory, jwtSecret } = config;
  const file = secretFileOf(dataDirectory);
  if (jwtSecret !== undefined)
    throw new CommandFailure('The secret comes from SERVICE_JWT_SECRET: change it for all services, and restart them.');
  if (!existsSync(file))
    throw new CommandFailure(`The secret file ${file} does not exist: name the data directory in SERVICE_DATA_DIR.`);
  replaceTokenSecret(dataDirectory);
  terminal.report(
    { file, restart_required: true },
    `${file} has a new secret. Restart the services: every earlier token and session then ends.`,
  );
}
