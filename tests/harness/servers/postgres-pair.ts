import { execFile } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { eventually, Hopeless } from '../eventually.ts';
import { startCutProxy } from '../network/cut-proxy.ts';
import { type Child, startChild } from '../processes/child.ts';
import { findFreePort } from '../processes/free-port.ts';
import { listDescendants } from '../processes/processes.ts';
import { reachablePostgresPrograms, unprivileged } from './platform-binaries.ts';

const run = promisify(execFile);

/** A PostgreSQL server with a standby that follows it. */
export interface PostgresPair extends AsyncDisposable {
  /** A database URL with both servers, as operators configure it. */
  readonly url: string;
  /** The database's URL on the standby only. */
  readonly standbyUrl: string;
  /** Runs a statement as a superuser on the primary. */
  onPrimary(text: string): Promise<readonly Record<string, unknown>[]>;
  /** Runs a statement as a superuser on the standby. */
  onStandby(text: string): Promise<readonly Record<string, unknown>[]>;
  /** Kills the primary and all its processes at once. */
  killPrimary(): Promise<void>;
  /** Freezes the primary: its connections stay open. */
  freezePrimary(): void;
  /** Freezes the standby, or resumes it. */
  freezeStandby(isFrozen: boolean): void;
  /** Promotes the standby to the primary, and waits until it accepts writes. */
  promote(): Promise<void>;
  /** Keeps the standby from receiving the primary's writes. */
  holdBack(): void;
  /** Ends `holdBack`. */
  letThrough(): void;
}

type Mode = 'synchronous' | 'asynchronous';

/** Without fsync, because the machine does not crash, and a killed process loses nothing that it wrote. */
const settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  fsync: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  wal_level: 'replica',
  wal_keep_size: '1GB',
  wal_retrieve_retry_interval: '100ms',
};

const owner = 'pair_owner';
const name = 'pair';

/** Starts both servers on a new cluster. A synchronous primary commits only what its standby has. */
export async function startPostgresPair(mode: Mode): Promise<PostgresPair> {
  const programs = reachablePostgresPrograms();
  const directory = mkdtempSync(join(tmpdir(), 'recordbus-test-postgres-pair-'));
  chmodSync(directory, 0o700);
  if (unprivileged) chownSync(directory, unprivileged.uid, unprivileged.gid);
  const options = { cwd: directory, ...unprivileged };
  const ports = [await findFreePort(), await findFreePort()] as const;
  const dataOf = (server: string): string => join(directory, server);
  await run(
    join(programs.directory, 'initdb'),
    ['--pgdata', dataOf('first'), '--username=postgres', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'],
    options,
  );
  // A cluster that was never started is its own backup.
  await run('cp', ['-a', dataOf('first'), dataOf('second')], options);
  await run('touch', [join(dataOf('second'), 'standby.signal')], options);

  const start = (server: string, port: number, own: Readonly<Record<string, string>>): Child => {
    const flags = Object.entries({ ...settings, ...own }).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
    return startChild(
      join(programs.directory, 'postgres'),
      ['-D', dataOf(server), '-p', String(port), ...flags],
      options,
    );
  };
  const urlOf = (port: number, database = 'postgres'): string => `postgresql://postgres@127.0.0.1:${port}/${database}`;
  const primary = start('first', ports[0], {
    synchronous_standby_names: mode === 'synchronous' ? 'standby' : '',
    cluster_name: 'first',
  });
  await answers(primary, urlOf(ports[0]));
  const replication = await startCutProxy(urlOf(ports[0]));
  const standby = start('second', ports[1], {
    primary_conninfo: `host=127.0.0.1 port=${replication.port} user=postgres application_name=standby`,
    cluster_name: 'second',
  });
  await answers(standby, urlOf(ports[1]));
  const onPrimary = (text: string, database?: string) => execute(urlOf(ports[0], database), text);
  await eventually('the standby follows', async () => {
    const [row] = await onPrimary("select from pg_stat_replication where state = 'streaming'");
    return row !== undefined;
  });
  await onPrimary(`create role ${owner} login`);
  await onPrimary(`create role ${name}_reader`);
  await onPrimary(`grant ${name}_reader to ${owner}`);
  await onPrimary(`create database ${name} owner ${owner}`);

  /** Each connection has its own process, which may end at any time. */
  const signal = (server: Child, kind: NodeJS.Signals): void => {
    for (const { pid } of listDescendants(server.pid)) {
      try {
        process.kill(pid, kind);
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
      }
    }
    server.kill(kind);
  };
  const end = async (server: Child): Promise<void> => {
    if (server.isRunning) signal(server, 'SIGKILL');
    await server.exited.catch(() => {});
  };
  return {
    url: `postgres://${owner}@127.0.0.1:${ports[0]},127.0.0.1:${ports[1]}/${name}?target_session_attrs=read-write`,
    standbyUrl: `postgres://${owner}@127.0.0.1:${ports[1]}/${name}`,
    onPrimary,
    onStandby: (text) => execute(urlOf(ports[1]), text),
    killPrimary: () => end(primary),
    freezePrimary: () => signal(primary, 'SIGSTOP'),
    freezeStandby: (isFrozen) => signal(standby, isFrozen ? 'SIGSTOP' : 'SIGCONT'),
    async promote() {
      replication.cut();
      await execute(urlOf(ports[1]), 'select pg_promote(wait => true)');
    },
    holdBack: () => replication.stall(),
    letThrough: () => replication.restore(),
    async [Symbol.asyncDispose]() {
      await Promise.all([end(primary), end(standby)]);
      await replication[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
      programs.remove();
    },
  };
}

const answers = (server: Child, url: string): Promise<unknown> =>
  eventually('PostgreSQL answers', async () => {
    if (!server.isRunning) throw new Hopeless(server.lines.join('\n'));
    return execute(url, 'select 1');
  });

async function execute(url: string, text: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}
