import { once } from 'node:events';
import { mkdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ConfigError } from '@recordbus/process/config';
import type { Logger } from '@recordbus/process/logging';
import { freeCluster, lockFileOf } from './cluster-lock.ts';
import { createRoles, ownerName } from './database-roles.ts';
import type { EmbeddedServer } from './embedded-server.ts';
import { generatedPassword } from './generated-password.ts';
import { upgradableFrom } from './older-postgres.ts';
import { loadPostgresBinaries, type PostgresBinaries } from './postgres-binaries.ts';
import { databaseName, ensureCluster, superuser } from './postgres-cluster.ts';
import { type ServerProcess, type StopStep, spawnServer, stopLeftover } from './server-process.ts';
import { prepareSocketDirectory } from './socket-directory.ts';
import { unprivileged } from './unprivileged.ts';

interface PostgresOptions {
  /** Holds the cluster, its passwords and the server's log. One server at a time: see lockDataDirectory. */
  readonly directory: string;
  readonly log: Logger;
  /** Settings in postgresql.conf that override the defaults below; a test turns fsync off. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The server's programs; by default those that npm installed. */
  readonly binaries?: PostgresBinaries;
}

/**
 * A quarter of the memory, as PostgreSQL's manual advises, but at most 1 GB: the services and the system's cache need the
 * rest. The server takes it page by page, so a small database takes little. In MB.
 */
export function sharedBuffersFor(memoryBytes: number): number {
  return Math.min(Math.max(Math.floor(memoryBytes / 4 / 2 ** 20), 128), 1024);
}

/** The machine's memory, or the container's. In bytes. */
const availableMemory = (): number => Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);

/** Settings for a machine that the services share: plans for an SSD, short queries never compiled. */
const ourSettings = {
  listen_addresses: '127.0.0.1',
  max_connections: '200',
  shared_buffers: `${sharedBuffersFor(availableMemory())}MB`,
  fsync: 'on',
  synchronous_commit: 'on',
  random_page_cost: '1.1',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  cluster_name: 'recordbus',
};

/** SIGINT is the fast shutdown (it disconnects clients and writes a checkpoint), SIGQUIT the immediate one. */
export const stopSteps: readonly StopStep[] = [
  { signal: 'SIGINT', withinMs: 15_000 },
  { signal: 'SIGQUIT', withinMs: 3_000 },
  { signal: 'SIGKILL', withinMs: 2_000 },
];

/** Longest wait for the server, in milliseconds. It includes the recovery after a crash. */
const readyTimeoutMs = 60_000;

/** Failures that another attempt may solve: the port was taken meanwhile, or a killed server's processes are ending. */
const passing = /Address already in use|pre-existing shared memory block/;
/** Some file systems, such as another machine's shares, have no sockets. */
const withoutSockets = /Unix-domain socket|Unix address|\.s\.PGSQL\./;
/** PostgreSQL's refusal of a cluster that another major version made: that version, and the server's own. */
const otherMajor = /initialized by PostgreSQL version (\d+), which is not compatible with this version (\d+)/;
/** How long a start is retried, and the pause between two attempts, in milliseconds. */
const waitMs = 30_000;
const pauseMs = 100;

/**
 * Starts the PostgreSQL that npm installed, on a free port on 127.0.0.1 and, where that is possible, on a Unix socket,
 * with its data in `directory`; creates the cluster at the first start. Throws ConfigError for a cluster that another
 * major version made, and with the server's last lines when it does not become ready.
 */
export async function startPostgres({
  directory,
  log,
  settings = {},
  binaries: given,
}: PostgresOptions): Promise<EmbeddedServer> {
  const home = resolve(directory);
  const binaries = given ?? (await loadPostgresBinaries());
  await mkdir(home, { recursive: true, mode: 0o700 });
  const cluster = join(home, 'cluster');
  const stopped = await stopLeftover(home, stopSteps);
  const leftover = (await freeCluster(cluster, stopSteps)) ?? stopped;
  if (leftover !== undefined) log.warn({ pid: leftover }, "stopped an earlier stack's PostgreSQL server");
  const password = await generatedPassword(home, 'password');
  const ownerPassword = await generatedPassword(home, 'owner_password');
  const user = await unprivileged(binaries.postgres, home);
  const effective = { ...ourSettings, ...settings };
  await ensureCluster({ cluster, binaries, password, user, isDurable: effective.fsync !== 'off' });

  let socketDirectory = await prepareSocketDirectory(home);
  const attempt = async (port: number): Promise<ServerProcess> => {
    const own = { port: String(port), unix_socket_directories: quoted(socketDirectory) };
    const values = Object.entries({ ...own, ...effective }).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
    const command = user.wrap(binaries.postgres, ['-D', cluster, ...values]);
    const server = await spawnServer({ name: 'PostgreSQL', ...command, directory: home, stopSteps });
    await server.ready(() => findReady(cluster, server.pid), readyTimeoutMs);
    return server;
  };
  const deadlineMs = performance.now() + waitMs;
  for (;;) {
    const port = await findFreePort();
    try {
      const { pid, exited, stop } = await attempt(port);
      const urlOf = (user: string, itsPassword: string): string =>
        urlOfServer({ user, password: itsPassword, port, socketDirectory });
      await createRoles(urlOf(superuser, password), ownerPassword).catch(async (error: unknown) => {
        await stop();
        throw error;
      });
      log.debug({ pid, port }, 'PostgreSQL is ready');
      return { url: urlOf(ownerName, ownerPassword), pid, exited, stop };
    } catch (error) {
      const message = error instanceof Error ? error.message : '';
      const [, made, runs] = otherMajor.exec(message) ?? [];
      if (made && runs) throw new ConfigError(otherMajorMessage(cluster, made, runs));
      const lacksSockets = socketDirectory !== undefined && withoutSockets.test(message);
      if (lacksSockets) socketDirectory = undefined;
      else if (performance.now() > deadlineMs || !passing.test(message)) throw error;
      await delay(pauseMs);
    }
  }
}

const otherMajorMessage = (cluster: string, made: string, runs: string): string =>
  `PostgreSQL ${made} made the database in ${cluster}, and this Recordbus runs PostgreSQL ${runs}: ${
    upgradableFrom.includes(made)
      ? 'run npm run cli -- database upgrade.'
      : 'with the Recordbus that ran until now, run npm run cli -- backup create; with this one, name an empty directory in SERVICE_DATA_DIR and run npm run cli -- backup restore.'
  }`;

/** Quotes a directory as a list with one entry; returns an empty list for undefined. */
const quoted = (directory: string | undefined): string => (directory ? `"${directory.replaceAll('"', '""')}"` : '');

interface ServerAddress {
  readonly user: string;
  readonly password: string;
  readonly port: number;
  readonly socketDirectory: string | undefined;
}

/** The driver prefers the socket in the parameter `host` (libpq, section 34.1.1.2). */
function urlOfServer({ user, password, port, socketDirectory }: ServerAddress): string {
  const socket = socketDirectory === undefined ? '' : `?host=${encodeURIComponent(socketDirectory)}`;
  return `postgres://${user}:${password}@127.0.0.1:${port}/${databaseName}${socket}`;
}

/** In postmaster.pid, the first line is the pid, and the eighth is "ready" once the server accepts connections. */
async function findReady(cluster: string, pid: number): Promise<true | undefined> {
  const lines = (await readFile(lockFileOf(cluster), 'utf8').catch(() => '')).split('\n');
  return Number(lines[0]) === pid && lines[7]?.trim() === 'ready' ? true : undefined;
}

/** Returns a TCP port on 127.0.0.1 where no process listened a moment ago. */
async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('A TCP server has no port.');
  return address.port;
}
