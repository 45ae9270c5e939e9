import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** The repository's root. */
export const root = join(import.meta.dirname, '../..');

/** Packs a folder for npm. Returns the tarball's path in `target`. */
export function npmPack(folder: string, target: string): string {
  const packed = run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', target], folder);
  const [{ filename }] = JSON.parse(packed) as [{ readonly filename: string }];
  return join(target, filename);
}

/** Runs a program in a folder and returns what it printed. Throws when it fails. */
export const run = (command: string, args: readonly string[], cwd: string, environment?: NodeJS.ProcessEnv): string =>
  execFileSync(command, args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...environment },
  });
