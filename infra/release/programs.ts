import { spawnSync } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { root } from '../pack/npm-pack.ts';

/** Runs a program and returns what it printed, trimmed; undefined when it fails or does not exist. */
export function answerOf(command: string, args: readonly string[], cwd = root): string | undefined {
  const { status, stdout } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

/** Finds a program on PATH, or where `go install` puts it; undefined when it is in neither. */
export const findProgram = (name: string, args: readonly string[]): string | undefined =>
  [name, join(homedir(), 'go/bin', name)].find((path) => answerOf(path, args) !== undefined);

/** A program that npm installed for this repository. */
export const installed = (name: string): string => join(root, 'node_modules/.bin', name);
