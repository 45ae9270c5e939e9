import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { PostgresBinaries } from './postgres-binaries.ts';
import type { Unprivileged } from './unprivileged.ts';

export const superuser = 'recordbus';
export const databaseName = 'recordbus';

interface ClusterOptions {
  /** Where the finished cluster stands. */
  readonly cluster: string;
  readonly binaries: PostgresBinaries;
  readonly password: string;
  readonly user: Unprivileged;
  /** Off only for a throw-away cluster. */
  readonly isDurable: boolean;
}

/**
 * Makes the database cluster when it is not there yet. It is made beside its place and renamed when it is whole, so a
 * start that is cut off leaves nothing that looks finished. The locale provider is PostgreSQL's own: the same Unicode
 * case rules on every system, with none of its locales installed.
 */
export async function ensureCluster({ cluster, binaries, password, user, isDurable }: ClusterOptions): Promise<void> {
  if (existsSync(cluster)) return;
  const draft = `${cluster}.new`;
  const passwordFile = `${cluster}.password`;
  await rm(draft, { recursive: true, force: true });
  await writeFile(passwordFile, password, { mode: 0o600 });
  await user.own(passwordFile);
  try {
    await run(user, binaries.initdb, [
      `--pgdata=${draft}`,
      `--username=${superuser}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      ...(isDurable ? [] : ['--no-sync']),
    ]);
    const fsync = `fsync=${isDurable ? 'on' : 'off'}`;
    await run(
      user,
      binaries.postgres,
      ['--single', '-D', draft, '-c', fsync, 'template1'],
      `CREATE DATABASE ${databaseName}\n`,
    );
  } finally {
    await rm(passwordFile, { force: true });
  }
  await rename(draft, cluster);
}

async function run(user: Unprivileged, program: string, programArgs: readonly string[], input = ''): Promise<void> {
  const { command, args, uid, gid } = user.wrap(program, programArgs);
  const running = promisify(execFile)(command, args, {
    cwd: '/',
    env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
    ...(uid !== undefined && { uid, gid }),
  });
  running.child.stdin?.end(input);
  try {
    await running;
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    throw new Error(`The database cluster could not be made: ${stderr?.trim() || String(error)}`);
  }
}
