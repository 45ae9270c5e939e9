import { createEnvelope } from '@recordbus/crypto';
import type { Command } from 'commander';
import { findServers } from '../deployment/find-servers.ts';
import { holdCommandLock } from '../deployment/hold-command-lock.ts';
import { refuseServices } from '../deployment/refuse-services.ts';
import { CommandFailure } from '../failure.ts';
import { readSecret } from '../read-secret.ts';
import { type CommandParts, type CommonOptions, runCommand } from '../run-command.ts';
import { type Resealed, resealAll } from './reseal-all.ts';

interface RotateOptions extends CommonOptions {
  readonly keyStdin?: boolean;
  readonly leaveUnreadable?: boolean;
}

/** `encryption rotate`. */
export function addEncryptionCommands(program: Command): void {
  program
    .command('encryption')
    .description('the key of what is encrypted at rest')
    .command('rotate')
    .description('encrypt everything anew, under another key; the services have to be stopped')
    .option('--key-stdin', 'read the new key from the first line of standard input')
    .option('--leave-unreadable', 'leave what neither key opens as it is, instead of changing nothing')
    .option('--json', 'write the outcome as JSON')
    .addHelpText('after', rotateHelp)
    .action((options: RotateOptions) => runCommand('encryption rotate', options, (parts) => rotate(parts, options)));
}

const rotateHelp = `
The key so far is SERVICE_ENCRYPTION_KEY; without one, what is stored in plain text is encrypted. The new key is asked for
at a terminal, or comes from SERVICE_NEW_ENCRYPTION_KEY:
  openssl rand -hex 32 > new.key && recordbus encryption rotate --key-stdin < new.key
Everything is changed in one transaction. Afterwards start the services with the new key.`;

async function rotate(
  parts: CommandParts,
  { keyStdin = false, leaveUnreadable = false }: RotateOptions,
): Promise<undefined> {
  const { config, terminal } = parts;
  const newKey = await readSecret({
    what: 'new key',
    flag: '--key-stdin',
    fromStdin: keyStdin,
    fromEnvironment: config.newEncryptionKey,
    variable: 'SERVICE_NEW_ENCRYPTION_KEY',
  });
  if (newKey === config.encryptionKey)
    throw new CommandFailure('The new key is the one that SERVICE_ENCRYPTION_KEY has.');
  const { databaseUrl } = await findServers(parts);
  const client = await holdCommandLock(parts, databaseUrl);
  await refuseServices(client);
  const keys = { current: createEnvelope(newKey), former: createEnvelope(config.encryptionKey) };
  const resealed = await resealAll(client, keys, leaveUnreadable);
  terminal.report(resealed, sumUp(resealed));
}

function sumUp({ encrypted, unreadable, places }: Resealed): string {
  const lines = Object.entries(places).map(([place, count]) => `  ${place}: ${count}`);
  return [
    encrypted === 0 ? 'Nothing was left to encrypt.' : `Encrypted ${encrypted} values under the new key:`,
    ...lines,
    ...(unreadable > 0 ? [`${unreadable} values that neither key opens were left as they are.`] : []),
    'Start the services with SERVICE_ENCRYPTION_KEY set to the new key.',
  ].join('\n');
}
