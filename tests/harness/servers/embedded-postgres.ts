import { execFile } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { eventually, Hopeless } from '../eventually.ts';
import { type Child, endChild, startChild, whenThisProcessEnds } from '../processes/child.ts';
import { findFreePort } from '../processes/free-port.ts';
import { listDescendants } from '../processes/processes.ts';
import { reachablePostgresPrograms, unprivileged } from './platform-binaries.ts';
import type { Server } from './server.ts';

const run = promisify(execFile);

/** Faster settings: the machine does not crash and databases live for seconds, so no fsync and no vacuum. */
const settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '400',
  fsync: 'off',
  full_page_writes: 'off',
  max_wal_size: '1GB',
  checkpoint_timeout: '1h',
  autovacuum: 'off',
};

/** Linux's file system in memory. */
const memoryDirectory = '/dev/shm';

/** Memory that must be free for clusters in it, in bytes. A run's databases and their log take up to 2 GB. */
const neededMemory = 8 * 1024 ** 3;

/** Tests create and drop thousands of tables. In memory their files take less than half the processor time. */
function clusterParent(): string {
  try {
    const { bavail, bsize } = statfsSync(memoryDirectory);
    if (Math.min(bavail * bsize, process.availableMemory()) >= neededMemory) return memoryDirectory;
  } catch {
    // Other systems lack it.
  }
  return tmpdir();
}

/** Starts a PostgreSQL with a new cluster in a temporary directory. */
export async function startEmbeddedPostgres(): Promise<Server> {
  const programs = reachablePostgresPrograms();
  const directory = mkdtempSync(join(clusterParent(), 'recordbus-test-postgres-'));
  // The directory of a killed run would keep its memory. The server's processes end within the second.
  const keep = whenThisProcessEnds('sleep 2; rm -rf "$1"', [directory]);
  chmodSync(directory, 0o700);
  if (unprivileged) chownSync(directory, unprivileged.uid, unprivileged.gid);
  const options = { cwd: directory, ...unprivileged };
  const data = join(directory, 'data');
  await run(
    join(programs.directory, 'initdb'),
    ['--pgdata', data, '--username=postgres', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'],
    options,
  );

  const port = await findFreePort();
  const url = `postgresql://postgres@127.0.0.1:${port}/postgres`;
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  let child: Child;

  const start = async (): Promise<void> => {
    child = startChild(join(programs.directory, 'postgres'), ['-D', data, '-p', String(port), ...flags], options);
    await eventually('PostgreSQL answers', async () => {
      if (!child.isRunning) throw new Hopeless(child.lines.join('\n'));
      await answer(url);
      return true;
    });
  };
  // SIGINT is PostgreSQL's fast shutdown: it does not wait for clients to disconnect.
  const stop = async (): Promise<void> => {
    await endChild(child, 'SIGINT');
  };
  // Each connection has its own process.
  const signalAll = async (signal: NodeJS.Signals): Promise<void> => {
    for (const { pid } of listDescendants(child.pid)) process.kill(pid, signal);
    child.kill(signal);
  };
  const remove = async (): Promise<void> => {
    await stop();
    rmSync(directory, { recursive: true, force: true });
    keep();
    programs.remove();
  };
  await start();
  return {
    url,
    start,
    stop,
    async kill() {
      await endChild(child, 'SIGQUIT');
    },
    async wipe() {
      throw new Error('the product does not promise to survive a database without its data');
    },
    freeze: () => signalAll('SIGSTOP'),
    thaw: () => signalAll('SIGCONT'),
    remove,
    [Symbol.asyncDispose]: remove,
  };
}

async function answer(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1000 });
  client.on('error', () => {});
  try {
    await client.connect();
  } finally {
    await client.end();
  }
}
