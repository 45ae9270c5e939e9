import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { StartFailure } from '@recordbus/process/start-failure';
import type { PostgresBinaries } from './postgres-binaries.ts';
import type { Unprivileged } from './unprivileged.ts';

/** The superuser, which only this package uses, to create the services' roles. */
export const superuser = 'recordbus';
export const databaseName = 'recordbus';

/** Where a cluster's upgrade prepares the next one. */
export const upgradeHome = (home: string): string => join(home, 'upgrade');

/** Puts an upgraded cluster in its place, after an interruption between the upgrade's two renames. */
export async function finishUpgrade(cluster: string): Promise<void> {
  const upgraded = join(upgradeHome(dirname(cluster)), basename(cluster));
  if (!existsSync(cluster) && existsSync(upgraded)) await rename(upgraded, cluster);
}

interface ClusterOptions {
  /** The finished cluster's path. */
  readonly cluster: string;
  readonly binaries: PostgresBinaries;
  readonly password: string;
  readonly user: Unprivileged;
  /** Off only for a temporary cluster. */
  readonly isDurable: boolean;
}

/**
 * Creates the database cluster if it is missing. It is created next to its path and renamed when complete, so an
 * interrupted start leaves no cluster that looks complete. The locale provider is PostgreSQL's own: the same Unicode
 * case rules on every system, without installed locales.
 */
export async function ensureCluster({ cluster, binaries, password, user, isDurable }: ClusterOptions): Promise<void> {
  await finishUpgrade(cluster);
  if (existsSync(cluster)) return;
  await removeDrafts(cluster);
  // A unique name: a killed start's initdb may still write to its draft.
  const draft = `${cluster}.new-${randomUUID()}`;
  const passwordFile = `${draft}.password`;
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

/** Removes interrupted starts' drafts. One that is still being written is removed at a later start. */
async function removeDrafts(cluster: string): Promise<void> {
  const home = dirname(cluster);
  for (const name of await readdir(home))
    if (name.startsWith(`${basename(cluster)}.`))
      await rm(join(home, name), { recursive: true, force: true }).catch(() => {});
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
    throw new StartFailure(`The database cluster could not be created: ${stderr?.trim() || String(error)}`);
  }
}
