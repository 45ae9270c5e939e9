import { every, whenWoken } from '@recordbus/process/background';
import { urlsOfDatabase } from '@recordbus/process/database-urls';
import type { Logger } from '@recordbus/process/logging';
import { askServers, choosePrimary } from './find-primary.ts';
import { type OpenConnection, watchLostConnections } from './lost-connections.ts';
import { createServerProbe, type ServerProbe, type ServerState } from './server-state.ts';

/** One database server. */
export interface DatabaseServer {
  readonly url: string;
  readonly host: string;
  readonly port: number;
}

/** The database server that takes writes. */
export interface Primary {
  /** The first server's URL. */
  readonly url: string;
  /** Whether there are several servers to choose from. */
  readonly hasSeveral: boolean;
  /** Finds the primary. Call it once, before the first connection. Throws if no server answers. */
  start(): Promise<ServerState>;
  /** Returns the server to connect to: the last one that took writes. Searches again when that server is suspected. */
  find(): Promise<DatabaseServer>;
  /** Call it when a server refused a connection or a write, or ended a connection: it may no longer be the primary. */
  suspect(server: Pick<DatabaseServer, 'host' | 'port'>): void;
  /**
   * Ends the connection when another server becomes the primary, or the network loses it. Returns a function that
   * forgets it.
   */
  hold(server: DatabaseServer, connection: OpenConnection): () => void;
  /**
   * Calls the handler when a promoted standby answers. It may lack the earlier server's last commits, and give their
   * transaction ids to others. Returns a function that removes the handler.
   */
  onFailover(handler: () => void): () => void;
  close(): Promise<void>;
}

interface PrimaryOptions {
  /** The database's URL, with one host or several. */
  readonly url: string;
  /** Shown by PostgreSQL as application_name. */
  readonly name: string;
  readonly log: Logger;
}

/** How often the servers are queried, in milliseconds: if there are several, or one is suspected. */
const lookMs = 1000;

interface Watched extends DatabaseServer {
  readonly probe: ServerProbe;
}

/** Creates the primary. With several hosts it queries all of them every second, until it is closed. */
export function createPrimary({ url, name, log }: PrimaryOptions): Primary {
  const urls = urlsOfDatabase(url) ?? ([url] as const);
  const isOne = urls.length === 1;
  const servers = urls.map((one): Watched => {
    const probe = createServerProbe({ url: one, name });
    return { ...addressOf(one), probe };
  });
  const held = new Map<OpenConnection, DatabaseServer>();
  let primary: Watched | undefined = isOne ? servers[0] : undefined;
  const failoverHandlers = new Set<() => void>();
  let [timeline, isDoubted] = [0, false];
  let looking: Promise<ServerState> | undefined;

  async function lookOnce(): Promise<ServerState> {
    const answers = await askServers(servers, ({ probe }) => probe.ask());
    const chosen = isOne
      ? answers.flatMap((answer) => ('state' in answer ? [answer] : []))[0]
      : choosePrimary(answers, { server: primary, timeline });
    if (!chosen) throw reasonOf(answers.flatMap((answer) => ('error' in answer ? [answer.error] : [])));
    const before = timeline;
    timeline = chosen.state.timeline;
    isDoubted = false;
    if (chosen.server !== primary) moveTo(chosen.server);
    if (before !== 0 && timeline !== before) for (const handler of failoverHandlers) handler();
    return chosen.state;
  }

  function look(): Promise<ServerState> {
    looking ??= lookOnce().finally(() => {
      looking = undefined;
    });
    return looking;
  }

  function moveTo(server: Watched): void {
    const { host, port } = server;
    if (primary) log.warn({ host, port }, "another server is now the database's primary");
    primary = server;
    const reason = new Error('Connection terminated: another server is the primary now');
    for (const [connection, its] of held) if (its !== server) connection.end(reason);
  }

  const task = { name: 'find the database server that takes writes', log, run: async () => void (await look()) };
  // A single server is queried only when it is suspected, on a separate connection.
  const repeating = isOne ? undefined : every({ ...task, intervalMs: lookMs });
  const watching =
    repeating ?? whenWoken({ ...task, retryMs: lookMs, run: async () => void (await look().then(closeProbes)) });
  const closeProbes = async (): Promise<void> => {
    await Promise.all(servers.map(({ probe }) => probe.close()));
  };

  const lost = watchLostConnections({ held: () => held, name, log });

  return {
    url: urls[0],
    hasSeveral: !isOne,
    async start() {
      const state = await look();
      if (isOne) await closeProbes();
      repeating?.start();
      // Behind a pooler, each transaction may be served by another process.
      if (!state.isPooled) lost.start();
      return state;
    },
    async find() {
      if ((isDoubted && !isOne) || !primary) await look().catch(() => {});
      if (!primary) throw new Error('Connection terminated: no database server takes writes');
      return primary;
    },
    suspect(server) {
      if (server.host !== primary?.host || server.port !== primary.port) return;
      isDoubted = true;
      watching.wakeSoon();
    },
    hold(server, connection) {
      held.set(connection, server);
      return () => held.delete(connection);
    },
    onFailover(handler) {
      failoverHandlers.add(handler);
      return () => failoverHandlers.delete(handler);
    },
    async close() {
      await Promise.all([watching.stop(), lost.stop()]);
      await closeProbes();
    },
  };
}

function addressOf(url: string): DatabaseServer {
  const { hostname, port } = new URL(url);
  return { url, host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port || 5432) };
}

/** Why no server can be used: the error from a server that does not answer, or else that none takes writes. */
const reasonOf = ([error]: readonly unknown[]): unknown =>
  error ?? new Error('Connection terminated: no database server takes writes');
