import { rmSync } from 'node:fs';
import { createValueCipher, findEncryptionKey, keyFileOf, nextKeyFileOf, readKeyFile } from '@recordbus/crypto';
import { encryptionKey } from '@recordbus/crypto/config';
import { openDatabase, type Query, urlOfPrimary } from '@recordbus/database';
import { compareKey, countUnreadable, forgetKey, isUnused, reencryptAll, rememberKey } from '@recordbus/encryption';
import type { Logger } from '@recordbus/process/logging';
import { makeSecretFile, moveSecretFile } from '@recordbus/process/secret-file';
import pg from 'pg';

interface KeyOptions {
  readonly config: { readonly encryptionKey?: string | undefined; readonly dataDirectory: string };
  readonly databaseUrl: string;
  /** Whether the database is in the data directory, so that no other machine needs the key. */
  readonly isOwnDatabase: boolean;
  readonly log: Logger;
}

/**
 * Returns the key for encryption at rest: SERVICE_ENCRYPTION_KEY, or the data directory's key file. The first start
 * creates the file, encrypts the values that an earlier version stored in plain text, and only then gives the file its
 * name. If a start is killed in between, the next one completes it. Returns undefined for a database on other machines
 * that has no key so far, and while values encrypted with a missing key are stored: a new key would hide that they can
 * be read again once it is back (encryption §4.2).
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
      const query: Query = async ({ text, values }) => (await client.query(text, [...values])).rows;
      const count = await countUnreadable(query, createValueCipher(undefined));
      const isNoted = (await compareKey(client, undefined)) !== 'none';
      if (count > 0 || (isNoted && !isOwnDatabase)) return warnOfMissing(log, dataDirectory, count);
      // Nothing needs the key that is gone.
      if (isNoted) await forgetKey(client);
      if (!isEmpty && !isOwnDatabase) {
        log.warn(`secrets are stored in plain text: ${encryptionKey.name} is not set`);
        return undefined;
      }
    }
    const key = makeSecretFile(nextFile);
    if (!isInterrupted && !(await rememberKey(client, key))) {
      // Another start has made a key at the same moment.
      rmSync(nextFile);
      return warnOfMissing(log, dataDirectory, 0);
    }
    if (!isEmpty) {
      const keys = { current: createValueCipher(key), former: createValueCipher(formerKey) };
      const { encrypted } = await reencryptAll(client, keys, { leavesUnreadable: true, userAgent: 'recordbus start' });
      if (encrypted > 0) log.info({ encrypted }, 'encrypted values that were stored in plain text');
    }
    await rememberKey(client, key);
    moveSecretFile(nextFile, keyFileOf(dataDirectory));
    return key;
  } finally {
    await client.end();
  }
}

function warnOfMissing(log: Logger, dataDirectory: string, count: number): undefined {
  log.warn(
    { count },
    `The encryption key is missing: ${count} stored values read as empty, and no new key is made. Put it back into ${keyFileOf(dataDirectory)}, or set ${encryptionKey.name}. If it is lost, so are these values; to continue without them, set ${encryptionKey.name} to a new key.`,
  );
}
