import { createEnvelope } from '@recordbus/crypto';
import { findServers } from '../deployment/find-servers.ts';
import { holdCommandLock } from '../deployment/hold-command-lock.ts';
import { refuseServices } from '../deployment/refuse-services.ts';
import { requireOwnTables } from '../deployment/table-version.ts';
import { CommandFailure } from '../failure.ts';
import { readSecret } from '../read-secret.ts';
import type { CommandParts, CommonOptions } from '../run-command.ts';
import { type Resealed, resealAll } from './reseal-all.ts';

export interface RotateOptions extends CommonOptions {
  readonly keyStdin?: boolean;
  readonly leaveUnreadable?: boolean;
}

/** Encrypts everything under a new key that is asked for. Throws a sentence when it may not, or can't read something. */
export async function rotateKey(
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
  await requireOwnTables(client);
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
