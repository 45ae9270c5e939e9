import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '@recordbus/shared/config';

interface TokenSecretSource {
  /** The value of SERVICE_JWT_SECRET. */
  readonly jwtSecret?: string | undefined;
  readonly dataDirectory: string;
}

const minLength = 32;

/**
 * The deployment's token secret, as the raw bytes that sign (contract §8): SERVICE_JWT_SECRET, else the text of the
 * file `jwt_secret` in the data directory, which is made when it is not there.
 * Throws ConfigError when the file can't be used.
 */
export function loadTokenSecret({ jwtSecret, dataDirectory }: TokenSecretSource): Uint8Array {
  if (jwtSecret) return Buffer.from(jwtSecret);
  const path = secretFileOf(dataDirectory);
  try {
    const text = readSecretFile(path) ?? makeSecretFile(path, dataDirectory);
    if (text.length >= minLength) return Buffer.from(text);
  } catch (error) {
    throw new ConfigError(`The secret file ${path} can't be used: ${error instanceof Error ? error.message : error}.`);
  }
  throw new ConfigError(`The secret file ${path} must have at least ${minLength} characters.`);
}

/** The secret file of a data directory. */
export const secretFileOf = (dataDirectory: string): string => join(dataDirectory, 'jwt_secret');

/**
 * Puts another secret into the secret file; what was signed with the old one ends when the services start again. A crash
 * leaves the old file or the new one. Throws what the file system throws.
 */
export function replaceTokenSecret(dataDirectory: string, secret: string = newSecret()): void {
  const path = secretFileOf(dataDirectory);
  const draft = writeDraft(path, secret);
  try {
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
  flushDirectory(dataDirectory);
}

const newSecret = (): string => randomBytes(32).toString('base64url');

/** Writes a whole file beside the secret file, for its owner alone, and gives its path. */
function writeDraft(path: string, secret: string): string {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  writeFileSync(draft, `${secret}\n`, { mode: 0o600, flag: 'wx', flush: true });
  return draft;
}

function readSecretFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/**
 * Writes a whole file beside the final one and links it there: a crash leaves no half secret, and of several processes
 * that start at once one makes the link and the others take what it made.
 */
function makeSecretFile(path: string, directory: string): string {
  mkdirSync(directory, { recursive: true });
  const draft = writeDraft(path, newSecret());
  try {
    linkSync(draft, path);
    flushDirectory(directory);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return readFileSync(path, 'utf8').trim();
}

function flushDirectory(directory: string): void {
  const descriptor = openSync(directory, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

const hasCode = (error: unknown, code: string) => error instanceof Error && 'code' in error && error.code === code;
