import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Logger } from '@recordbus/process/logging';
import { StartFailure } from '@recordbus/process/start-failure';
import type { EmbeddedServer } from './embedded-server.ts';
import { installOlderPostgres, upgradableFrom } from './older-postgres.ts';
import { startPostgres, stopSteps } from './postgres.ts';
import { loadPostgresBinaries } from './postgres-binaries.ts';
import { finishUpgrade, upgradeHome } from './postgres-cluster.ts';
import { stopLeftover } from './server-process.ts';

interface UpgradeOptions {
  /** Holds the cluster. The caller has the data directory's lock. */
  readonly directory: string;
  /** Keeps the older PostgreSQL. */
  readonly cacheDirectory: string;
  readonly log: Logger;
}

/** A cluster from an older major version, and the empty one that replaces it. */
export interface ClusterUpgrade {
  /** The major versions. */
  readonly from: string;
  readonly to: string;
  readonly old: EmbeddedServer;
  readonly next: EmbeddedServer;
  /** A directory for temporary files; `finish` removes it. */
  readonly home: string;
  /**
   * Stops both servers and puts the new cluster in the old one's place. Returns where the old cluster is now. After
   * an interruption, the next start finds the old cluster or the complete new one.
   */
  finish(): Promise<string>;
  stop(): Promise<void>;
}

/**
 * Starts an older major version's cluster, and an empty new one with the same passwords. Undefined if the cluster needs
 * no upgrade. Removes what an interrupted upgrade left. Throws StartFailure for a version that cannot be upgraded.
 */
export async function startClusterUpgrade(options: UpgradeOptions): Promise<ClusterUpgrade | undefined> {
  const { cacheDirectory, log } = options;
  const directory = resolve(options.directory);
  const cluster = join(directory, 'cluster');
  const home = upgradeHome(directory);
  await finishUpgrade(cluster);
  const from = (await readFile(join(cluster, 'PG_VERSION'), 'utf8').catch(() => '')).trim();
  if (from === '') throw new StartFailure(`There is no database in ${cluster}.`);
  await stopLeftover(home, stopSteps);
  // A killed upgrade's initdb may still write.
  await rm(home, { recursive: true, force: true, maxRetries: 10 });
  const to = await ownMajor();
  if (from === to) return undefined;
  const kept = `${cluster}-${from}`;
  if (!upgradableFrom.includes(from))
    throw new StartFailure(`PostgreSQL ${from} made the database, and there is no upgrade from it to ${to}.`);
  if (existsSync(kept)) throw new StartFailure(`${kept} exists from an earlier upgrade: move or delete it first.`);
  const binaries = await installOlderPostgres(from, cacheDirectory);
  const old = await startPostgres({ directory, log, binaries });
  try {
    await mkdir(home, { mode: 0o700 });
    for (const name of ['password', 'owner_password']) await copyFile(join(directory, name), join(home, name));
    const next = await startPostgres({ directory: home, log });
    const stop = async (): Promise<void> => void (await Promise.all([old.stop(), next.stop()]));
    return {
      from,
      to,
      old,
      next,
      home,
      stop,
      async finish() {
        await stop();
        await rename(cluster, kept);
        await rename(join(home, 'cluster'), cluster);
        await rm(home, { recursive: true, force: true });
        return kept;
      },
    };
  } catch (error) {
    await old.stop();
    throw error;
  }
}

/** Returns the major version of the PostgreSQL that npm installed. */
async function ownMajor(): Promise<string> {
  const { postgres } = await loadPostgresBinaries();
  const { stdout } = await promisify(execFile)(postgres, ['--version']);
  const [, major] = /\(PostgreSQL\) (\d+)/.exec(stdout) ?? [];
  if (major === undefined) throw new StartFailure(`${postgres} does not name its version: ${stdout}`);
  return major;
}
