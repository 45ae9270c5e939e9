import { every } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import type pg from 'pg';
import { connectProbe } from './connect-probe.ts';
import { endSessions, findIdleSessions } from './idle-sessions.ts';

/** An open connection to a server. */
export interface OpenConnection {
  /** The id of the server process that serves it, if known. */
  readonly processId: number | undefined;
  /** Whether it waits for an answer. */
  isWaiting(): boolean;
  /** How many bytes it has received. */
  receivedBytes(): number;
  /** Ends the connection at once. Its work fails. */
  end(reason: Error): void;
}

/** Ends the connections that a network has forgotten. */
export interface LostConnections {
  start(): void;
  stop(): Promise<void>;
}

interface LostConnectionsOptions {
  /** The open connections with their server's URL. */
  readonly held: () => Iterable<readonly [OpenConnection, { readonly url: string }]>;
  /** Shown by PostgreSQL as application_name. */
  readonly name: string;
  readonly log: Logger;
}

/** How often the connections are checked, in milliseconds. */
const lookMs = 1000;

/**
 * How long a connection is silent before its server is queried, and how long the server's answer must stay the same, in
 * milliseconds.
 */
const silentMs = 3000;

/** What is known about a connection since it last received a byte. */
interface Silence {
  readonly bytes: number;
  readonly isWaiting: boolean;
  readonly sinceMs: number;
  /** The server's answer: since when the session is idle. */
  idle?: { readonly since: string; readonly foundAtMs: number } | undefined;
}

/**
 * A network that drops packets closes no connection, so a statement would wait until its timeout. So this queries the
 * server, on another connection, about each connection that waits for an answer and gets none. The connection is lost
 * if its session on the server is idle or gone, and still is after a while. A session at work is left alone, however
 * long it takes. When a connection is lost, all connections that have been silent for longer end too, and the server
 * ends their sessions with their locks.
 */
export function watchLostConnections({ held, name, log }: LostConnectionsOptions): LostConnections {
  const silences = new WeakMap<OpenConnection, Silence>();
  const probes = new Map<string, Promise<pg.Client>>();

  function silenceOf(connection: OpenConnection, nowMs: number): Silence {
    const [bytes, isWaiting] = [connection.receivedBytes(), connection.isWaiting()];
    const before = silences.get(connection);
    if (before?.bytes === bytes && before.isWaiting === isWaiting) return before;
    const silence = { bytes, isWaiting, sinceMs: nowMs };
    silences.set(connection, silence);
    return silence;
  }

  /** Each server's connections that wait for an answer and are silent. */
  function findSilent(): Map<string, OpenConnection[]> {
    const silent = new Map<string, OpenConnection[]>();
    // All get the same time: a check cannot tell which connection became silent first.
    const nowMs = performance.now();
    for (const [connection, { url }] of held()) {
      const { isWaiting, sinceMs } = silenceOf(connection, nowMs);
      if (!isWaiting || connection.processId === undefined || nowMs - sinceMs < silentMs) continue;
      silent.set(url, [...(silent.get(url) ?? []), connection]);
    }
    return silent;
  }

  async function examine(url: string, connections: readonly OpenConnection[]): Promise<void> {
    const probe = probes.get(url) ?? connectProbe({ url, name });
    probes.set(url, probe);
    const client = await probe;
    const idle = await findIdleSessions(
      client,
      connections.flatMap(({ processId }) => processId ?? []),
    );
    const nowMs = performance.now();
    const silence = (connection: OpenConnection) => silenceOf(connection, nowMs);
    const lost = connections.filter((one) => isLost(silence(one), { nowMs, session: idle.get(one.processId ?? 0) }));
    if (lost.length === 0) return;
    const sinceMs = Math.min(...lost.map((connection) => silence(connection).sinceMs));
    const others = [...held()].flatMap(([connection, server]) =>
      server.url === url && !lost.includes(connection) && isIdleSince(silence(connection), sinceMs) ? [connection] : [],
    );
    log.warn({ lost: lost.length, idle: others.length }, 'the network lost connections to the database');
    const reason = new Error('Connection terminated: the network lost it');
    for (const connection of [...lost, ...others]) connection.end(reason);
    await endSessions(
      client,
      lost.flatMap(({ processId }) => idle.get(processId ?? 0) ?? []),
    );
  }

  async function look(): Promise<void> {
    const silent = findSilent();
    await Promise.all([
      ...[...probes.keys()].filter((url) => !silent.has(url)).map(dropProbe),
      ...[...silent].map(([url, connections]) => examine(url, connections).catch(() => dropProbe(url))),
    ]);
  }

  async function dropProbe(url: string): Promise<void> {
    const probe = probes.get(url);
    probes.delete(url);
    // Closes the socket without a message, since a server that does not answer would not end the connection.
    await probe?.then((client) => client.connection.stream.destroy()).catch(() => {});
  }

  const task = every({ name: 'find connections that the network lost', log, intervalMs: lookMs, run: look });
  return {
    start: task.start,
    async stop() {
      await task.stop();
      await Promise.all([...probes.keys()].map(dropProbe));
    },
  };
}

/** Notes the server's answer about a silent connection. Returns whether it has stayed the same for a while. */
function isLost(
  silence: Silence,
  { nowMs, session }: { readonly nowMs: number; readonly session: { readonly since: string } | undefined },
): boolean {
  if (!session || nowMs - silence.sinceMs < silentMs) silence.idle = undefined;
  else if (silence.idle?.since !== session.since) silence.idle = { since: session.since, foundAtMs: nowMs };
  return silence.idle !== undefined && nowMs - silence.idle.foundAtMs >= silentMs;
}

const isIdleSince = ({ isWaiting, sinceMs }: Silence, givenMs: number): boolean => !isWaiting && sinceMs <= givenMs;
