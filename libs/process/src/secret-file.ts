import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { makeDirectory } from './directory.ts';
import { hasCode } from './system-error.ts';

/** Returns 256 random bits as text. */
export const newSecret = (): string => randomBytes(32).toString('base64url');

/** Reads a secret file; undefined when it does not exist. Throws the system's errors. */
export function readSecretFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/**
 * Creates a secret file that only its owner can read, and returns its secret. A crash leaves no partial file. When
 * several processes start at once, one creates the file and the others read it.
 */
export function makeSecretFile(path: string, secret: string = newSecret()): string {
  makeDirectory(resolve(dirname(path)));
  const draft = writeDraft(path, secret);
  try {
    linkSync(draft, path);
    flushDirectory(dirname(path));
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return readFileSync(path, 'utf8').trim();
}

/** Replaces the secret in a file. A crash leaves the old one or the new one. Throws the system's errors. */
export function replaceSecretFile(path: string, secret: string): void {
  const draft = writeDraft(path, secret);
  try {
    moveSecretFile(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** Renames a secret file. After a crash it has the old name or the new one. */
export function moveSecretFile(from: string, to: string): void {
  renameSync(from, to);
  flushDirectory(dirname(to));
}

/** Writes a complete file next to the secret file, readable only by its owner, and returns its path. */
function writeDraft(path: string, secret: string): string {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  writeFileSync(draft, `${secret}\n`, { mode: 0o600, flag: 'wx', flush: true });
  return draft;
}

function flushDirectory(directory: string): void {
  const descriptor = openSync(directory, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
