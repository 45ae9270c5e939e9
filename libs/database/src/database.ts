import type { Logger } from '@recordbus/process/logging';
import type { Metrics } from '@recordbus/process/metrics';
import { noteWritten } from '@recordbus/request/request-scope';
import pg from 'pg';
import { type ClientReads, openClientReads } from './client-reads.ts';
import { createCancelStatement } from './connections/cancel-statement.ts';
import type { OwnWork } from './connections/connection-budget.ts';
import { createOpeners } from './connections/openers.ts';
import { createQuickStatements } from './connections/quick-statements.ts';
import type { ReadLane } from './connections/read-lane.ts';
import type { WorkPlaces } from './connections/work-places.ts';
import { isDatabaseError, sqlState } from './errors.ts';
import { openOwnConnections } from './own-connections.ts';
import { openReplicaSide } from './read-replicas/replica-side.ts';
import { createLongReadWidth } from './reads/long-read-width.ts';
import { createPrimary, type Primary } from './servers/primary.ts';
import { migrate } from './startup/migrate.ts';
import { prepareReadingRole, readingSettings } from './startup/reading-role.ts';
import { requirePreparedStatements } from './startup/require-prepared-statements.ts';
import { requireServerVersion } from './startup/server-version.ts';
import { untilReachable } from './startup/until-reachable.ts';
import type { Query, Statement } from './statement.ts';
import { createStatementTracing } from './traced.ts';

/** The database, as one service uses it. Each kind of work has its own places (README.md). */
export interface Database {
  /** Runs a read in autocommit in a get's place. A long one moves to where it delays no other. */
  readonly read: Query;
  /** Clients' reads. The server ends each after its statement time, in milliseconds. */
  readonly reads: ClientReads;
  /** Runs one statement in autocommit, in a place for the service's work. */
  readonly query: Query;
  /** Runs one statement that writes, in autocommit. Statements that are known to be quick share their commits. */
  readonly write: Query;
  /**
   * Runs several statements in one transaction, in a place for the service's work. After a serialization failure or
   * deadlock it runs again from the start, at most three times in all, so the work must do nothing outside the
   * transaction.
   */
  transaction<T>(work: (query: Query) => Promise<T>): Promise<T>;
  /** Returns the same database with statements and transactions in another kind of work's places. */
  of(name: OwnWork): Database;
  /** Throws when the database does not answer. */
  ping(): Promise<void>;
  /**
   * Calls the handler after a failover, which makes earlier snapshots and transaction ids invalid. Returns a function
   * that removes the handler.
   */
  onFailover(handler: () => void): () => void;
  /** The read replicas that serve client reads; undefined without them. */
  readonly readReplicas: ReplicaUse | undefined;
  close(): Promise<void>;
}

/** What a service calls on its read replicas. */
export interface ReplicaUse {
  /** Makes every read on them see all that was committed before this call, such as a schema change. */
  catchUp(): void;
  /** Describes their problem in a sentence; undefined if all can be used. */
  findProblem(): string | undefined;
}

interface DatabaseOptions {
  readonly url: string;
  /** Shown by PostgreSQL as application_name. */
  readonly name: string;
  readonly log: Logger;
  /** The metrics to which the connections' state is added. */
  readonly metrics?: Metrics;
  /** The kind of work for its statements and transactions. */
  readonly as?: OwnWork;
  /** The most connections for each kind of work; by default the budget's. */
  readonly maxConnections?: number;
  /** How long a statement waits for a silent server, in milliseconds; longer within transactions. */
  readonly silenceMs?: number;
  /** The read replicas' URLs. With them, answers to writes name a database state. */
  readonly replicaUrls?: readonly string[] | undefined;
  /** Whether client reads may run on them. */
  readonly readsReplicas?: boolean;
}

/** Unix seconds and counts are bigint in SQL and fit a double. */
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

const transactionAttempts = 3;

/** The statement time of the product's own reads, such as for followed copies and tokens' accounts, in milliseconds. */
const ownReadMs = 30_000;

/** Creates the connections, which open when needed, and migrates the system tables. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { url, log, as = 'writes' } = options;
  const name = `recordbus ${options.name}`;
  const primary = createPrimary({ url, name, log });
  const isPooled = await startPrimary(primary, log).catch(async (error: unknown) => {
    await primary.close();
    throw error;
  });
  const openers = createOpeners({ ...options, name, server: primary, isPooled });
  const longReadWidth = createLongReadWidth();
  const onWork = longReadWidth.noteShortWork;
  const healthPool = openers.pool('health');
  const health = healthPool.placesOf('health');
  // `/readyz` always finds its connection free.
  const cancel = createCancelStatement(health);
  const own = openOwnConnections(openers, { onWork, cancel });
  const { background } = own.places;
  const closeOwn = async (): Promise<void> => {
    await Promise.all([primary.close(), healthPool.close(), own.close()]);
  };
  const ping = async (): Promise<void> => {
    await health.query(signOfLife);
  };
  const role = await untilReachable(() => migrateAndFindRole(background, own.driverPool, log), log).catch(
    async (error: unknown) => {
      await closeOwn();
      throw error;
    },
  );
  const settings = readingSettings(role);
  const lanes = openers.lanes(settings);
  const quickStatements = createQuickStatements();
  const replicaSide = await openReplicaSide({
    ...options,
    name,
    settings,
    gets: lanes.own,
    background,
    primary,
    onRan: quickStatements.noteRun,
  });
  const statementTracing = createStatementTracing(url);
  const { traced, tracing } = statementTracing;
  const clientReads = openClientReads(openers, {
    lanes,
    longReadWidth,
    settings,
    replicaSide,
    quickStatements,
    statementTracing,
  });

  const common = {
    reads: clientReads.reads,
    read: <R>(statement: Statement) => traced(statement, () => readOwn<R>(lanes.own, background, statement)),
    of: (other: OwnWork) => handleOf(other),
    ping,
    onFailover: primary.onFailover,
    readReplicas: replicaSide?.reading && replicaSide,
    async close() {
      await Promise.all([closeOwn(), clientReads.close(), replicaSide?.close()]);
    },
  };

  /** Any of these calls may write. The state is read after the commit, just before the answer is sent. */
  const noting: <T>(work: Promise<T>) => Promise<T> = replicaSide
    ? (work) => {
        noteWritten(replicaSide.state);
        return work;
      }
    : (work) => work;

  const handleOf = (of: OwnWork): Database => ({
    ...common,
    query: tracing((statement) => noting(own.places[of].query(statement))),
    write: tracing((statement) => noting(own.write[of](statement))),
    transaction: (work) => noting(again(() => own.places[of].transaction((query) => work(tracing(query))))),
  });

  return handleOf(as);
}

/** The product's own reads: system tables, which the role for client reads cannot read. */
async function readOwn<R>(reads: Pick<ReadLane, 'read'>, background: WorkPlaces, statement: Statement): Promise<R[]> {
  try {
    return await reads.read<R>(statement);
  } catch (error) {
    if (!isDatabaseError(error, sqlState.queryCanceled)) throw error;
    return background.query<R>(statement, ownReadMs);
  }
}

/**
 * Waits for the database, and finds the server that takes writes. Returns whether the database is behind a pooler.
 * Throws ConfigError for a pooler that loses prepared statements.
 */
async function startPrimary(primary: Primary, log: Logger): Promise<boolean> {
  const { isPooled } = await untilReachable(() => primary.start(), log);
  if (isPooled) await requirePreparedStatements((await primary.find()).url);
  if (isPooled) log.info('the database is behind a pooler: every transaction carries its settings');
  return isPooled;
}

const signOfLife: Statement = { text: 'select 1', values: [] };

/** Migrates the tables, and grants the role for client reads what it needs. */
async function migrateAndFindRole(
  background: WorkPlaces,
  driverPool: pg.Pool,
  log: Logger,
): Promise<string | undefined> {
  await requireServerVersion((statement) => background.query(statement));
  await migrate((statement) => background.query(statement), driverPool, log);
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
