import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { ConfigError } from './config.ts';
import { hasCode } from './system-error.ts';

/** Explains errno(3) codes for a path that should become a readable and writable directory. */
const reasons: Readonly<Record<string, string>> = {
  EACCES: 'this user may not read and write there',
  EPERM: 'this user may not read and write there',
  EEXIST: 'it is not a directory, or lies below something that is not',
  ENOTDIR: 'it is not a directory, or lies below something that is not',
  ENOENT: 'it does not exist and cannot be created',
  EROFS: 'its file system is read-only',
  ENOSPC: 'its disk is full',
  EDQUOT: "this user's disk quota is used up",
  ELOOP: 'its links lead in a circle',
  ENAMETOOLONG: 'its name is too long',
};

/**
 * Creates a directory and its missing parents. Throws the system's error when that fails, even below a dangling link,
 * where Node's recursive mkdir never returns.
 */
export function makeDirectory(path: string, mode = 0o777): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (hasCode(error, 'EEXIST') && isDirectory(path)) return;
    if (!hasCode(error, 'ENOENT') || dirname(path) === path) throw error;
    makeDirectory(dirname(path), mode);
    mkdirSync(path, { mode });
  }
}

const isDirectory = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/**
 * Returns the error to throw for a directory that a variable names: a ConfigError when the operating system refused it,
 * any other error unchanged.
 */
export function unusablePath(variableName: string, path: string, error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error && 'syscall' in error)) return error;
  const reason = reasons[String(error.code)] ?? error.message;
  return new ConfigError(`${variableName} cannot be used: ${path}: ${reason}.`);
}
