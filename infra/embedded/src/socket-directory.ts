import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** The names that PostgreSQL gives to a socket and to its lock file, with the port in them. */
const socketName = /^\.s\.PGSQL\.\d+(\.lock)?$/;
const longestName = '/.s.PGSQL.65535';
/**
 * How many bytes every system supports in a socket's path, without the zero at the end (unix(7), and macOS with 104).
 */
const maxPathBytes = 103;

/**
 * Returns the directory for the server's Unix socket, which is faster than TCP, and removes killed servers' sockets.
 * Undefined on Windows, where Node has no such sockets, and for a path that is too long.
 */
export async function prepareSocketDirectory(home: string): Promise<string | undefined> {
  if (process.platform === 'win32' || Buffer.byteLength(home + longestName) > maxPathBytes) return undefined;
  const sockets = (await readdir(home)).filter((name) => socketName.test(name));
  await Promise.all(sockets.map((name) => rm(join(home, name), { force: true })));
  return home;
}
