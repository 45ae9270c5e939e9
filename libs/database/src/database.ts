import type { Logger } from '@recordbus/shared/logging';
import type { Metrics } from '@recordbus/shared/metrics';
import { inSpan, SpanKind } from '@recordbus/shared/telemetry';
import pg from 'pg';
import { createClassMeters } from './class-meter.ts';
import { type ClassName, classOf, type OwnClassName } from './connection-budget.ts';
import { type ConnectionPool, createConnectionPool } from './connection-pool.ts';
import { isDatabaseError, sqlState, throwNoted } from './errors.ts';
import { createLargeAnswers } from './large-answers.ts';
import { migrate } from './migrate.ts';
import { ReadLane } from './read-lane.ts';
import { prepareReadingRole, readingOptions } from './reading-role.ts';
import { demandServerVersion } from './server-version.ts';
import { createShapedReads } from './shaped-reads.ts';
import type { Query, Statement } from './statement.ts';
import { untilReachable } from './until-reachable.ts';

/** The database, as one service uses it. Each kind of work has its own connections (connection-budget.ts). */
export interface Database {
  /** Runs a read in autocommit on the pipelined connections of gets. A long one moves to where it delays no other. */
  readonly read: Query;
  /** Reads of clients. The server ends each after its statement time, in milliseconds. */
  readonly reads: ClientReads;
  /** Runs one statement in autocommit, on a connection of the service's class. */
  readonly query: Query;
  /**
   * Runs several statements in one transaction, on a connection of the service's class. After a serialization failure or
   * deadlock it runs again from the start, at most three times in all, so the work must do nothing outside the
   * transaction.
   */
  transaction<T>(work: (query: Query) => Promise<T>): Promise<T>;
  /** Returns the same database with statements and transactions on connections of another class. */
  of(name: OwnClassName): Database;
  /** Throws when the database does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Reads of clients (docs/cost-budget.md). */
export interface ClientReads {
  /** Reads one record by its id. */
  get<R>(statement: Statement, statementMs: number): Promise<R[]>;
  /** Reads a small page that its client did not shape. */
  page<R>(statement: Statement, statementMs: number): Promise<R[]>;
  /** Runs a shaped read. */
  shaped<R>(statement: Statement, statementMs: number): Promise<R[]>;
  /** Runs a shaped read of several statements that see one snapshot. */
  shapedTransaction<T>(work: (query: Query) => Promise<T>, statementMs: number): Promise<T>;
}

interface DatabaseOptions {
  readonly url: string;
  /** Shown by PostgreSQL as application_name. */
  readonly name: string;
  readonly log: Logger;
  /** The metrics to which the state of the connections is added. */
  readonly metrics?: Metrics;
  /** The class of its statements and transactions. */
  readonly as?: OwnClassName;
  /** Most connections of a class; by default those of the budget. */
  readonly maxConnections?: number;
  /** How long a statement waits for a silent server, in milliseconds; longer within transactions. */
  readonly silenceMs?: number;
}

/** Unix seconds and counts are bigint in SQL and fit a double. */
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

const transactionAttempts = 3;

/** When keep-alive probes of idle connections begin, in milliseconds: a vanished machine closes no connection. */
const keepAliveMs = 10_000;

/** The statement time of reads for the product itself, such as followed copies and accounts of tokens, in milliseconds. */
const ownReadMs = 30_000;

/** Creates the connections, which open when needed, and migrates the system tables. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { url, name, log, metrics, as = 'writes', maxConnections = Number.POSITIVE_INFINITY, silenceMs } = options;
  const meterOf = createClassMeters(metrics);
  const connection = {
    connectionString: url,
    application_name: `recordbus ${name}`,
    connectionTimeoutMillis: 5000,
    idle_in_transaction_session_timeout: 30_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
  };
  const connectionsOf = (of: ClassName) => Math.min(classOf(of).connections, maxConnections);
  const poolOf = (of: ClassName, options?: string) =>
    createConnectionPool({
      name: of,
      connections: connectionsOf(of),
      connection: { ...connection, ...(options && { options }) },
      log,
      meter: meterOf(of),
      silenceMs,
    });
  const laneOf = (of: 'gets' | 'lists', options?: string) => openLane(of, connectionsOf(of), options);

  function openLane(of: 'gets' | 'lists', size: number, options: string | undefined): ReadLane {
    const { statementMs, maxWaiting } = classOf(of);
    return new ReadLane({
      connection: {
        ...connection,
        ...(options && { options }),
        statement_timeout: statementMs,
        query_timeout: silenceMs ?? statementMs + 5000,
      },
      size,
      maxUnderWay: maxWaiting,
      log,
      meter: meterOf(of),
    });
  }

  const health = poolOf('health');
  const own = {
    writes: poolOf('writes'),
    signIn: poolOf('signIn'),
    admin: poolOf('admin'),
    background: poolOf('background'),
  };
  const closeOwn = async (): Promise<void> => {
    await Promise.all([health, ...Object.values(own)].map((pool) => pool.close()));
  };
  const ping = async (): Promise<void> => {
    await health.query(signOfLife);
  };
  await untilReachable(ping, log);
  const role = await migrateAndFindRole(own, log).catch(async (error: unknown) => {
    await closeOwn();
    throw error;
  });
  const asReader = readingOptions(role);
  const [gets, lists] = [laneOf('gets'), laneOf('lists', asReader)];
  const [shortReads, longReads] = [poolOf('shortReads', asReader), poolOf('longReads', asReader)];
  const shaped = createShapedReads({
    short: shortReads,
    long: longReads,
    meter: meterOf('shaped'),
    largeAnswers: createLargeAnswers({ meter: meterOf('largeAnswers') }),
  });

  const reads: ClientReads = {
    get: (statement, statementMs) => traced(statement, () => shaped.readOn(gets, statement, statementMs)),
    page: (statement, statementMs) => traced(statement, () => shaped.readOn(lists, statement, statementMs)),
    shaped: (statement, statementMs) => traced(statement, () => shaped.read(statement, statementMs)),
    shapedTransaction: (work, statementMs) => shaped.transaction((query) => work(tracing(query)), statementMs),
  };
  /** Reads of system tables do not use the role of client reads. */
  async function readOwn<R>(statement: Statement): Promise<R[]> {
    try {
      return await gets.read<R>(statement);
    } catch (error) {
      if (!isDatabaseError(error, sqlState.queryCanceled)) throw error;
      return own.background.query<R>(statement, ownReadMs);
    }
  }

  const shared = {
    reads,
    read: <R>(statement: Statement) => traced(statement, () => readOwn<R>(statement)),
    of: (other: OwnClassName) => handleOf(other),
    ping,
    async close() {
      await Promise.all([closeOwn(), ...[gets, lists, shortReads, longReads].map((one) => one.close())]);
    },
  };

  const handleOf = (of: OwnClassName): Database => ({
    ...shared,
    query: tracing((statement) => own[of].query(statement)),
    transaction: (work) => again(() => own[of].transaction((query) => work(tracing(query)))),
  });

  return handleOf(as);
}

const signOfLife: Statement = { text: 'select 1', values: [] };

/** Migrates the tables, and grants the role of client reads what it needs. */
async function migrateAndFindRole(
  { background }: { readonly background: ConnectionPool },
  log: Logger,
): Promise<string | undefined> {
  await demandServerVersion((statement) => background.query(statement));
  await migrate((statement) => background.query(statement), background.driverPool, log);
  return prepareReadingRole(
    (statement) => background.query(statement),
    (work) => background.transaction(work),
  );
}

async function again<T>(attempt: () => Promise<T>): Promise<T> {
  for (let left = transactionAttempts - 1; ; left -= 1) {
    try {
      return await attempt();
    } catch (error) {
      const lost = isDatabaseError(error, sqlState.serializationFailure, sqlState.deadlockDetected);
      if (!lost || left === 0) throw error;
    }
  }
}

const tracing =
  (query: Query): Query =>
  (statement) =>
    traced(statement, () => query(statement));

const traced = <T>(statement: Statement, work: () => Promise<T>): Promise<T> =>
  inSpan(
    statement.name ?? 'sql',
    {
      kind: SpanKind.CLIENT,
      onlyWithin: true,
      attributes: { 'db.system.name': 'postgresql', 'db.query.text': statement.text },
    },
    () => work().catch((error) => throwNoted(error, statement)),
  );
