import { join } from 'node:path';
import { messageOf } from '@recordbus/errors';
import { ConfigError } from '@recordbus/process/config';
import { readSecretFile } from '@recordbus/process/secret-file';
import { encryptionKey } from './value-cipher.ts';

/** The key file of a data directory. */
export const keyFileOf = (dataDirectory: string): string => join(dataDirectory, 'encryption_key');

/** The file of the new key while a key change re-encrypts everything. It replaces the key file when the change is done. */
export const nextKeyFileOf = (dataDirectory: string): string => `${keyFileOf(dataDirectory)}.next`;

/** The encryption key of a deployment and its source. */
export interface EncryptionKey {
  /** Undefined when there is none: values are then stored in plain text. */
  readonly text: string | undefined;
  readonly place: 'variable' | 'file' | 'none';
  /** Whether the key file holds another key than the variable. The variable wins. */
  readonly isFileIgnored: boolean;
}

interface KeySource {
  /** The value of SERVICE_ENCRYPTION_KEY. */
  readonly encryptionKey?: string | undefined;
  readonly dataDirectory: string;
}

/**
 * Finds the key: SERVICE_ENCRYPTION_KEY, else the key file of the data directory (encryption §3.1). Throws ConfigError
 * for a file that cannot be used, and while a change of the key is unfinished (encryption §4.3).
 */
export function findEncryptionKey({ encryptionKey: given, dataDirectory }: KeySource): EncryptionKey {
  if (given !== undefined) {
    const file = readIfPossible(keyFileOf(dataDirectory));
    return { text: given, place: 'variable', isFileIgnored: file !== undefined && file !== given };
  }
  if (readKeyFile(nextKeyFileOf(dataDirectory)) !== undefined)
    throw new ConfigError(`An encryption key change in ${dataDirectory} is not finished: npm start finishes it.`);
  const text = readKeyFile(keyFileOf(dataDirectory));
  return { text, place: text === undefined ? 'none' : 'file', isFileIgnored: false };
}

/** Returns a key file's text; undefined when there is none. Throws ConfigError when it is unreadable or empty. */
export function readKeyFile(path: string): string | undefined {
  let text: string | undefined;
  try {
    text = readSecretFile(path);
  } catch (error) {
    throw new ConfigError(`The key file ${path} cannot be used: ${messageOf(error)}.`);
  }
  if (text === '')
    throw new ConfigError(`The key file ${path} is empty: put the key back, or set ${encryptionKey.name}.`);
  return text;
}

function readIfPossible(path: string): string | undefined {
  try {
    return readSecretFile(path);
  } catch {
    return undefined;
  }
}
