import type { Logger } from '@recordbus/shared/logging';
import type { Metrics } from '@recordbus/shared/metrics';
import { GuardedClient, type GuardedConfig } from '../driver/guarded-client.ts';
import type { Primary } from '../servers/primary.ts';
import { createClassMeters } from './class-meter.ts';
import { type ClassName, classOf } from './connection-budget.ts';
import { type ConnectionPool, createConnectionPool, type PoolHooks } from './connection-pool.ts';
import { ReadLane } from './read-lane.ts';
import { type SessionSettings, startupOptions } from './session-settings.ts';
import { ownSessions, pooledSessions, pooledSettings, replicaSessions } from './sessions.ts';

/** Opens the connections of a class, with additional settings if given. */
export interface Openers {
  pool(of: ClassName, hooks?: PoolHooks, settings?: SessionSettings): ConnectionPool;
  lane(of: 'gets' | 'lists' | 'quickReads', settings?: SessionSettings): ReadLane;
  readonly meterOf: ReturnType<typeof createClassMeters>;
}

interface OpenerOptions {
  /** Shown by PostgreSQL as application_name. */
  readonly name: string;
  readonly log: Logger;
  readonly metrics?: Metrics | undefined;
  /** The primary, or the URL of a read replica. */
  readonly server: Primary | string;
  /** Whether the connections go through a pooler. */
  readonly isPooled?: boolean;
  /** How long to wait for a new connection, in milliseconds. */
  readonly connectMs?: number;
  readonly maxConnections?: number | undefined;
  readonly silenceMs?: number | undefined;
}

/**
 * When keep-alive probes of idle connections begin, in milliseconds. A machine that disappears closes no connection.
 */
const keepAliveMs = 10_000;

/** How long the server keeps a transaction that does nothing. */
const idleInTransaction = { idle_in_transaction_session_timeout: '30s' };

/** Creates the openers of a service for one server. */
export function createOpeners(options: OpenerOptions): Openers {
  const { name, log, metrics, server, isPooled = false, connectMs = 5000, silenceMs, maxConnections } = options;
  const isReplica = typeof server === 'string';
  const meterOf = createClassMeters(metrics);
  const connection: GuardedConfig = {
    connectionString: isReplica ? server : server.url,
    application_name: name,
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    primary: isReplica ? undefined : server,
  };
  /** A pooler refuses startup settings that it does not know, and sessions behind it keep no settings. */
  const sessionsOf = (of: ClassName, settings: SessionSettings) => {
    const { statementMs, settings: ofClass = {} } = classOf(of);
    if (isPooled) return { connection, sessions: pooledSessions({ ...idleInTransaction, ...ofClass, ...settings }) };
    const options = startupOptions({ ...idleInTransaction, ...settings });
    return {
      connection: { ...connection, statement_timeout: statementMs, options },
      sessions: (isReplica ? replicaSessions : ownSessions)(ofClass, statementMs),
    };
  };
  const connectionsOf = (of: ClassName) =>
    Math.min(classOf(of).connections, maxConnections ?? Number.POSITIVE_INFINITY);
  return {
    meterOf,
    pool: (of, hooks, settings = {}) =>
      createConnectionPool({
        onReadOnly: (client) => client instanceof GuardedClient && client.suspectPrimary(),
        ...hooks,
        name: of,
        connections: connectionsOf(of),
        ...sessionsOf(of, settings),
        log,
        meter: meterOf(of),
        silenceMs,
      }),
    lane(of, settings = {}) {
      const { statementMs, maxWaiting } = classOf(of);
      return new ReadLane({
        connection: { ...sessionsOf(of, settings).connection, query_timeout: silenceMs ?? statementMs + 5000 },
        isReplica,
        ...(isPooled && { settings: pooledSettings(settings, statementMs) }),
        size: connectionsOf(of),
        maxUnderWay: maxWaiting,
        log,
        meter: meterOf(of),
      });
    },
  };
}
