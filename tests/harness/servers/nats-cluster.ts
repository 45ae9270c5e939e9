import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstreamManager, type StreamInfo } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { eventually, Hopeless } from '../eventually.ts';
import { type CutProxy, startCutProxy } from '../network/cut-proxy.ts';
import { type Child, endChild, startChild } from '../processes/child.ts';
import { findFreePort } from '../processes/free-port.ts';
import { natsBinary } from './platform-binaries.ts';
import type { Server } from './server.ts';

/** One server in a cluster. */
export interface ClusterServer {
  readonly name: string;
  /** Its address for clients, through the test's proxy. */
  readonly url: string;
  start(): Promise<void>;
  kill(): Promise<void>;
  freeze(): void;
  thaw(): void;
  /** Cuts it off from clients and other servers. No connection closes. */
  cutOff(): void;
  restore(): void;
}

/**
 * Three nats-servers with JetStream that form a cluster. Their connections to each other run through the test's
 * proxies.
 */
export interface NatsCluster extends AsyncDisposable {
  readonly servers: readonly ClusterServer[];
  /** The cluster as a stack's bus. Its URL names all servers. */
  readonly bus: Server;
  /** Returns the cluster's information about the stream. */
  streamInfo(): Promise<StreamInfo>;
  /** Waits until every replica of the stream, and of its consumers, has a leader and is current. */
  isWhole(): Promise<void>;
}

interface Ports {
  readonly clients: number;
  readonly routes: number;
}

const size = 3;
const startPatience = { timeoutMs: 30_000 };

/** Starts the cluster with `running` servers. */
export async function startNatsCluster({ running = size } = {}): Promise<NatsCluster> {
  const directory = mkdtempSync(join(tmpdir(), 'recordbus-test-nats-cluster-'));
  const numbers = Array.from({ length: size }, (_, index) => index);
  const ports: Ports[] = [];
  for (const _ of numbers) ports.push({ clients: await findFreePort(), routes: await findFreePort() });
  const toClients = await Promise.all(ports.map(({ clients }) => startCutProxy(`nats://127.0.0.1:${clients}`)));
  /** The proxy through which one server reaches another. */
  const routes = new Map<string, CutProxy>();
  for (const from of numbers)
    for (const to of numbers)
      if (from !== to) routes.set(`${from} ${to}`, await startCutProxy(`nats://127.0.0.1:${ports[to]?.routes}`));

  const around = (index: number): CutProxy[] => [
    ...toClients.filter((_, other) => other === index),
    ...[...routes].flatMap(([pair, proxy]) => (pair.split(' ').includes(String(index)) ? [proxy] : [])),
  ];
  const servers = numbers.map((index) => {
    const { clients = 0, routes: routesPort = 0 } = ports[index] ?? {};
    return clusterServer({
      directory: join(directory, `server-${index}`),
      configuration: join(directory, `server-${index}.conf`),
      name: `server-${index}`,
      url: `nats://127.0.0.1:${toClients[index]?.port}`,
      clients,
      routes: routesPort,
      others: numbers.flatMap((other) => routes.get(`${index} ${other}`)?.port ?? []),
      around: around(index),
    });
  });
  const url = servers.map((server) => server.url).join(',');
  const all = async (work: (server: ClusterServer) => unknown): Promise<void> => {
    await Promise.all(servers.map(work));
  };
  const remove = async (): Promise<void> => {
    await all((server) => server.kill());
    await Promise.all([...toClients, ...routes.values()].map((proxy) => proxy[Symbol.asyncDispose]()));
    rmSync(directory, { recursive: true, force: true });
  };
  const streamInfo = () => askManager(url, (manager) => manager.streams.info('EVENTS'));
  await Promise.all(servers.slice(0, running).map((server) => server.start()));
  await eventually(
    'the cluster has a leader',
    () => askManager(url, (manager) => manager.getAccountInfo()),
    startPatience,
  );
  return {
    servers,
    streamInfo,
    isWhole: () =>
      eventually(
        'every replica is current',
        () =>
          askManager(url, async (manager) => {
            const { cluster, config } = await manager.streams.info('EVENTS');
            const groups = [{ cluster, count: config.num_replicas }];
            // Zero means as many replicas as the stream.
            for await (const { cluster, config: own } of manager.consumers.list('EVENTS'))
              groups.push({ cluster, count: own.num_replicas || config.num_replicas });
            return groups.every(({ cluster: { leader, replicas = [] } = {}, count }) => {
              const isComplete = leader !== undefined && replicas.length === count - 1;
              return isComplete && replicas.every(({ current, offline }) => current && !offline);
            });
          }),
        { timeoutMs: 60_000, intervalMs: 100 },
      ).then(() => {}),
    bus: {
      url,
      start: () => all((server) => server.start()),
      stop: () => all((server) => server.kill()),
      kill: () => all((server) => server.kill()),
      freeze: () => all((server) => server.freeze()),
      thaw: () => all((server) => server.thaw()),
      async wipe() {
        throw new Error('a cluster that loses all its data at once is not tested');
      },
      remove,
      [Symbol.asyncDispose]: remove,
    },
    [Symbol.asyncDispose]: remove,
  };
}

interface ServerOptions {
  readonly directory: string;
  readonly configuration: string;
  readonly name: string;
  readonly url: string;
  readonly clients: number;
  readonly routes: number;
  /** The ports at which it reaches the others. */
  readonly others: readonly number[];
  readonly around: readonly CutProxy[];
}

function clusterServer(options: ServerOptions): ClusterServer {
  const { name, url, directory, configuration, around } = options;
  let child: Child | undefined;
  writeFileSync(
    configuration,
    JSON.stringify({
      server_name: name,
      host: '127.0.0.1',
      port: options.clients,
      jetstream: { store_dir: directory },
      cluster: {
        name: 'recordbus',
        host: '127.0.0.1',
        port: options.routes,
        // Clients must not discover addresses that bypass the proxies.
        no_advertise: true,
        cluster_advertise: '127.0.0.1:1',
        routes: options.others.map((port) => `nats://127.0.0.1:${port}`),
      },
    }),
  );
  return {
    name,
    url,
    async start() {
      const started = startChild(natsBinary(), ['--config', configuration]);
      child = started;
      await eventually('nats-server is ready', () => {
        if (!started.isRunning) throw new Hopeless(started.lines.join('\n'));
        return started.lines.some((line) => line.includes('Server is ready'));
      });
    },
    async kill() {
      if (child) await endChild(child, 'SIGKILL');
    },
    freeze: () => child?.kill('SIGSTOP'),
    thaw: () => child?.kill('SIGCONT'),
    cutOff() {
      for (const proxy of around) proxy.stall();
    },
    restore() {
      for (const proxy of around) proxy.restore();
    },
  };
}

async function askManager<T>(
  url: string,
  ask: (manager: Awaited<ReturnType<typeof jetstreamManager>>) => Promise<T>,
): Promise<T> {
  const connection = await connect({ servers: url.split(','), timeout: 2000, reconnect: false });
  try {
    return await ask(await jetstreamManager(connection, { checkAPI: false, timeout: 2000 }));
  } finally {
    await connection.close();
  }
}
