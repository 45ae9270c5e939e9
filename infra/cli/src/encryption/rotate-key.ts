import { rmSync } from 'node:fs';
import { createValueCipher, keyFileOf, nextKeyFileOf } from '@recordbus/crypto';
import { type Reencrypted, reencryptAll, UnreadableValues } from '@recordbus/encryption';
import { moveSecretFile, newSecret, replaceSecretFile } from '@recordbus/process/secret-file';
import { CommandFailure } from '@recordbus/stack-calls';
import type pg from 'pg';
import { cliActor } from '../cli-actor.ts';
import { findServers } from '../deployment/find-servers.ts';
import { holdCommandLock } from '../deployment/hold-command-lock.ts';
import { requireStoppedServices } from '../deployment/require-stopped-services.ts';
import { requireOwnTables } from '../deployment/table-version.ts';
import { readSecret } from '../read-secret.ts';
import type { CommandParts, CommonOptions } from '../run-command.ts';

export interface RotateOptions extends CommonOptions {
  readonly keyStdin?: boolean;
  readonly leaveUnreadable?: boolean;
}

/** Encrypts all values with a new key. Throws CommandFailure when a service runs or a value cannot be decrypted. */
export async function rotateKey(
  parts: CommandParts,
  { keyStdin = false, leaveUnreadable = false }: RotateOptions,
): Promise<undefined> {
  const { config, key: former, terminal } = parts;
  const isGiven = keyStdin || config.newEncryptionKey !== undefined;
  // A key file gets a random key unless one is given.
  const newKey = former.place === 'file' && !isGiven ? newSecret() : await askForKey(config.newEncryptionKey, keyStdin);
  if (newKey === former.text) throw new CommandFailure('The new key is the current key.');
  const client = await openStopped(parts);
  const { dataDirectory } = config;
  // Written before the values change: npm start completes a rotation that is killed after this line.
  if (former.place === 'file') replaceSecretFile(nextKeyFileOf(dataDirectory), newKey);
  const result = await reencrypt(client, newKey, former.text, leaveUnreadable).catch((error: unknown) => {
    // After a lost connection the outcome is unknown, so the new key is kept.
    if (former.place === 'file' && error instanceof CommandFailure) rmSync(nextKeyFileOf(dataDirectory));
    throw error;
  });
  if (former.place === 'file') moveSecretFile(nextKeyFileOf(dataDirectory), keyFileOf(dataDirectory));
  terminal.report(result, summarize(result, former.place === 'file' ? keyFileOf(dataDirectory) : undefined));
}

/** Encrypts values that were stored before there was a key. Throws CommandFailure when there is no key. */
export async function encryptPlainText(parts: CommandParts): Promise<undefined> {
  const { key, terminal } = parts;
  if (key.text === undefined)
    throw new CommandFailure('There is no key: set SERVICE_ENCRYPTION_KEY, or run encryption rotate.');
  const client = await openStopped(parts);
  const { encrypted, places } = await reencrypt(client, key.text, key.text, true);
  terminal.report({ encrypted, places }, `Encrypted ${encrypted} values. Start the services.`);
}

/** Opens a connection to a deployment from this version whose services are stopped. */
async function openStopped(parts: CommandParts): Promise<pg.Client> {
  const { databaseUrl } = await findServers(parts);
  const client = await holdCommandLock(parts, databaseUrl);
  await requireOwnTables(client);
  await requireStoppedServices(client);
  return client;
}

const askForKey = (fromEnvironment: string | undefined, fromStdin: boolean): Promise<string> =>
  readSecret({
    what: 'new key',
    flag: '--key-stdin',
    fromStdin,
    fromEnvironment,
    variable: 'SERVICE_NEW_ENCRYPTION_KEY',
  });

async function reencrypt(
  client: pg.Client,
  newKey: string,
  formerKey: string | undefined,
  leavesUnreadable: boolean,
): Promise<Reencrypted> {
  const keys = { current: createValueCipher(newKey), former: createValueCipher(formerKey) };
  try {
    return await reencryptAll(client, keys, { leavesUnreadable, userAgent: cliActor.userAgent });
  } catch (error) {
    throw error instanceof UnreadableValues ? new CommandFailure(error.message) : error;
  }
}

function summarize({ encrypted, unreadable, places }: Reencrypted, keyFile: string | undefined): string {
  const lines = Object.entries(places).map(([place, count]) => `  ${place}: ${count}`);
  return [
    encrypted === 0 ? 'There was nothing to encrypt.' : `Encrypted ${encrypted} values with the new key:`,
    ...lines,
    ...(unreadable > 0 ? [`${unreadable} values that neither key decrypts were kept as they are.`] : []),
    keyFile === undefined
      ? 'Start the services with SERVICE_ENCRYPTION_KEY set to the new key.'
      : `The new key is in ${keyFile}. Start the services again.`,
  ].join('\n');
}
