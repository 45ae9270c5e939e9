import { execFile } from 'node:child_process';
import { chown, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { ConfigError } from '@recordbus/process/config';

/**
 * The command that runs a program without root: `command` and `args` to spawn, with `uid` and `gid` where they apply.
 */
interface UnprivilegedCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly uid?: number;
  readonly gid?: number;
}

export interface Unprivileged {
  wrap(command: string, args: readonly string[]): UnprivilegedCommand;
  /** Gives a file or directory to the user that the program runs as. */
  own(path: string): Promise<void>;
}

interface User {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/**
 * Returns how to run a server that refuses to run as root, as PostgreSQL does: unchanged for an ordinary user,
 * otherwise as `postgres` or `nobody`, who becomes the owner of `directory`. Throws ConfigError with advice when that
 * user cannot reach the directory.
 */
export async function unprivileged(program: string, directory: string): Promise<Unprivileged> {
  if (process.getuid?.() !== 0) return { wrap: (command, args) => ({ command, args }), own: async () => {} };
  const user = await findUser(['postgres', 'nobody']);
  const own = (path: string): Promise<void> => chown(path, user.uid, user.gid);
  await own(directory);
  const { uid, gid } = user;
  const paths = [program, directory];
  if (await canReach(paths, { uid, gid })) return { wrap: (command, args) => ({ command, args, uid, gid }), own };
  const prefix = throughClosedDirectories(user);
  if (!(await canReach(paths, {}, prefix))) throw new ConfigError(closed(user, paths));
  return { wrap: (command, args) => ({ command: 'setpriv', args: [...prefix, command, ...args] }), own };
}

async function findUser(names: readonly string[]): Promise<User> {
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  for (const name of names) {
    const [, , uid, gid] = lines.find(([candidate]) => candidate === name) ?? [];
    if (Number(uid) > 0) return { name, uid: Number(uid), gid: Number(gid) };
  }
  throw new ConfigError(
    `PostgreSQL does not run as root, and there is no user ${names.join(' or ')} to run it as: start as an ordinary user, or name a database in SERVICE_DATABASE_URL.`,
  );
}

/** Lets the system check the access, because access lists and mounts matter too. */
async function canReach(
  paths: readonly string[],
  user: { uid?: number; gid?: number },
  prefix: readonly string[] = [],
): Promise<boolean> {
  const test = ['/bin/sh', '-c', 'for path; do test -r "$path" || exit 1; done', 'sh', ...paths];
  const [command = '', ...args] = prefix.length > 0 ? ['setpriv', ...prefix, ...test] : test;
  try {
    await promisify(execFile)(command, args, { ...user, cwd: '/' });
    return true;
  } catch {
    return false;
  }
}

/**
 * For a clone below a directory that only root may enter (/root, mktemp -d), keeps only the capability to search and
 * read there, and drops root's every other capability.
 */
function throughClosedDirectories({ uid, gid }: User): readonly string[] {
  const kept = '-all,+dac_read_search';
  return [
    `--reuid=${uid}`,
    `--regid=${gid}`,
    '--clear-groups',
    `--inh-caps=${kept}`,
    `--ambient-caps=${kept}`,
    // PostgreSQL looks for its own files with access(2), which ignores capabilities without this bit.
    '--securebits=+no_setuid_fixup',
  ];
}

const closed = ({ name }: User, paths: readonly string[]): string =>
  `PostgreSQL does not run as root, and the user ${name} cannot reach ${paths.join(' and ')}: move the clone and SERVICE_DATA_DIR to directories that others may enter, or start as an ordinary user.`;
