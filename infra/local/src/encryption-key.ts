import { rmSync } from 'node:fs';
import { createValueCipher, findEncryptionKey, keyFileOf, nextKeyFileOf, readKeyFile } from '@recordbus/crypto';
import { encryptionKey } from '@recordbus/crypto/config';
import { openDatabase, urlOfPrimary } from '@recordbus/database';
import { hasEncryptedSecrets, isUnused, reencryptAll, rememberKey } from '@recordbus/encryption';
import { ConfigError } from '@recordbus/shared/config';
import type { Logger } from '@recordbus/shared/logging';
import { makeSecretFile, moveSecretFile } from '@recordbus/shared/secret-file';
import pg from 'pg';

interface KeyOptions {
  readonly config: { readonly encryptionKey?: string | undefined; readonly dataDirectory: string };
  readonly databaseUrl: string;
  /** Whether the database is in the data directory, so that no other machine needs the key. */
  readonly isOwnDatabase: boolean;
  readonly log: Logger;
}

/**
 * Returns the key for encryption at rest: SERVICE_ENCRYPTION_KEY, else the key file of the data directory. The first
 * start creates the file, encrypts the values that an earlier version stored in plain text, and only then gives the
 * file its name. If a start is killed in between, the next one completes it. Returns undefined for a database of other
 * machines that has no key so far. Throws ConfigError when the key of encrypted values is missing.
 */
export async function prepareEncryptionKey(options: KeyOptions): Promise<string | undefined> {
  const { config, log } = options;
  const { dataDirectory } = config;
  const isInterrupted = config.encryptionKey === undefined && readKeyFile(nextKeyFileOf(dataDirectory)) !== undefined;
  if (!isInterrupted) {
    const { text, isFileIgnored } = findEncryptionKey(config);
    if (isFileIgnored)
      log.warn(
        { file: keyFileOf(dataDirectory) },
        `${encryptionKey.name} is used; the key file holds another key, which is not used`,
      );
    if (text !== undefined) return text;
  }
  return encryptUnderNextKey(options, readKeyFile(keyFileOf(dataDirectory)), isInterrupted);
}

async function encryptUnderNextKey(
  { config: { dataDirectory }, databaseUrl, isOwnDatabase, log }: KeyOptions,
  formerKey: string | undefined,
  isInterrupted: boolean,
): Promise<string | undefined> {
  // Runs the missing migrations, as the services would.
  await (await openDatabase({ url: databaseUrl, name: 'start', log })).close();
  const name = 'recordbus start';
  const client = new pg.Client({ connectionString: await urlOfPrimary(databaseUrl, name), application_name: name });
  client.on('error', () => {});
  await client.connect();
  const nextFile = nextKeyFileOf(dataDirectory);
  try {
    const isEmpty = await isUnused(client);
    if (!isInterrupted) {
      if (await hasEncryptedSecrets(client)) throw new ConfigError(keyIsMissing(dataDirectory));
      if (!isEmpty && !isOwnDatabase) {
        log.warn(`secrets are stored in plain text: ${encryptionKey.name} is not set`);
        return undefined;
      }
    }
    const key = makeSecretFile(nextFile);
    if (!isInterrupted && !(await rememberKey(client, key))) {
      rmSync(nextFile);
      throw new ConfigError(keyIsMissing(dataDirectory));
    }
    if (!isEmpty) {
      const keys = { current: createValueCipher(key), former: createValueCipher(formerKey) };
      const { encrypted } = await reencryptAll(client, keys, { leavesUnreadable: true, userAgent: 'recordbus start' });
      log.info({ encrypted }, 'encrypted values that were stored in plain text');
    }
    await rememberKey(client, key);
    moveSecretFile(nextFile, keyFileOf(dataDirectory));
    return key;
  } finally {
    await client.end();
  }
}

const keyIsMissing = (dataDirectory: string): string =>
  `The database holds values that are encrypted with a key that is missing: put it back into ${keyFileOf(dataDirectory)}, or set ${encryptionKey.name}. If the key is lost, so are these values; to continue without them, set ${encryptionKey.name} to a new key.`;
