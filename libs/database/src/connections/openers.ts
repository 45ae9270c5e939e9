import type { Logger } from '@recordbus/process/logging';
import type { Metrics } from '@recordbus/process/metrics';
import type { GuardedConfig } from '../driver/guarded-client.ts';
import type { Primary } from '../servers/primary.ts';
import { createClassMeters, type MeterOf } from './class-meter.ts';
import { type ClassName, classOf, placesOf, shapedReadBudget, workOf } from './connection-budget.ts';
import { type ConnectionPool, createConnectionPool } from './connection-pool.ts';
import { ReadLane } from './read-lane.ts';
import { type SessionSettings, startupOptions } from './session-settings.ts';
import { ownSessions, pooledSessions, pooledSettings, replicaSessions } from './sessions.ts';

/** Opens connections to a server, with additional settings if given. */
export interface Openers {
  pool(of: ClassName, settings?: SessionSettings): ConnectionPool;
  /** Opens the pipelined connections in the class `reads`. */
  lanes(settings: SessionSettings): ReadLanes;
  readonly meterOf: MeterOf;
}

/** The places on pipelined connections. */
export interface ReadLanes {
  readonly gets: Pick<ReadLane, 'read'>;
  readonly pages: Pick<ReadLane, 'read'>;
  /** For services' own reads, with the login role's rights. */
  readonly own: Pick<ReadLane, 'read'>;
  /** Pages' places, for statements with a short time. */
  readonly quick: Pick<ReadLane, 'read'>;
  close(): Promise<void>;
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
 * When keep-alive probes on idle connections begin, in milliseconds. A machine that disappears closes no connection.
 */
const keepAliveMs = 10_000;

/** How long the server keeps a transaction that does nothing. */
const idleInTransaction = { idle_in_transaction_session_timeout: '30s' };

/** Creates a service's openers for one server. */
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
  const sessionsOf = (of: ClassName, more: SessionSettings) => {
    const { statementMs, settings: ofClass = {} } = classOf(of);
    const settings = { ...idleInTransaction, ...ofClass, ...more };
    if (isPooled) return { connection, sessions: pooledSessions(settings) };
    return {
      connection: { ...connection, statement_timeout: statementMs, options: startupOptions(settings) },
      sessions: (isReplica ? replicaSessions : ownSessions)(statementMs),
    };
  };

  function lane(work: 'gets' | 'pages' | 'ownReads', more: SessionSettings): ReadLane {
    const { statementMs, settings } = classOf('reads');
    return new ReadLane({
      connection: { ...sessionsOf('reads', more).connection, query_timeout: silenceMs ?? statementMs + 5000 },
      isReplica,
      ...(isPooled && { settings: pooledSettings({ ...settings, ...more }, statementMs) }),
      size: placesOf(work, maxConnections),
      maxUnderWay: workOf(work).maxWaiting,
      log,
      meterOf,
      work,
    });
  }

  return {
    meterOf,
    pool: (of, settings = {}) =>
      createConnectionPool({ name: of, maxConnections, ...sessionsOf(of, settings), log, meterOf, silenceMs }),
    lanes(settings) {
      const { settings: ofClass } = classOf('reads');
      const { quickMs } = shapedReadBudget;
      const { role: _role, ...ownSettings } = settings;
      const [gets, pages, own] = [lane('gets', settings), lane('pages', settings), lane('ownReads', ownSettings)];
      const quickSettings = pooledSettings(isPooled ? { ...ofClass, ...settings } : {}, quickMs);
      return {
        gets,
        pages,
        own,
        quick: { read: (statement, check) => pages.read(statement, check, quickSettings) },
        async close() {
          await Promise.all([gets.close(), pages.close(), own.close()]);
        },
      };
    },
  };
}
