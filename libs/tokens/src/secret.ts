import { join } from 'node:path';
import { ConfigError } from '@recordbus/process/config';
import { makeSecretFile, newSecret, readSecretFile, replaceSecretFile } from '@recordbus/process/secret-file';

interface TokenSecretSource {
  /** The value in SERVICE_JWT_SECRET. */
  readonly jwtSecret?: string | undefined;
  readonly dataDirectory: string;
}

const minLength = 32;

/**
 * Returns the deployment's token secret as the raw bytes that sign (auth §8.2, §8.3): from SERVICE_JWT_SECRET, or from
 * the file `jwt_secret` in the data directory, which is created when it is missing. Throws ConfigError when the file
 * cannot be used.
 */
export function loadTokenSecret({ jwtSecret, dataDirectory }: TokenSecretSource): Uint8Array {
  if (jwtSecret) return Buffer.from(jwtSecret);
  const path = secretFileOf(dataDirectory);
  try {
    const text = readSecretFile(path) ?? makeSecretFile(path);
    if (text.length >= minLength) return Buffer.from(text);
  } catch (error) {
    throw new ConfigError(`The secret file ${path} cannot be used: ${error instanceof Error ? error.message : error}.`);
  }
  throw new ConfigError(`The secret file ${path} must have at least ${minLength} characters.`);
}

/** A data directory's secret file. */
export const secretFileOf = (dataDirectory: string): string => join(dataDirectory, 'jwt_secret');

/**
 * Writes another secret to the secret file. The old secret's tokens end when the services restart (auth §8.3). A crash
 * leaves the old file or the new one. Throws the file system's errors.
 */
export function replaceTokenSecret(dataDirectory: string, secret: string = newSecret()): void {
  replaceSecretFile(secretFileOf(dataDirectory), secret);
}
