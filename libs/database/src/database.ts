import { setTimeout } from 'node:timers/promises';
import type { Logger } from '@recordbus/shared/logging';
import type { Metrics } from '@recordbus/shared/metrics';
import { inSpan, SpanKind } from '@recordbus/shared/telemetry';
import pg from 'pg';
import { isConnectionError, isDatabaseError, sqlState } from './errors.ts';
import { measurePool } from './measure-pool.ts';
import { migrate } from './migrate.ts';
import { ReadLane } from './read-lane.ts';
import { demandServerVersion } from './server-version.ts';
import type { Query, Statement } from './statement.ts';

export interface Database {
  /** A short read in autocommit, on the shared pipelined connections. */
  readonly read: Query;
  /** One statement in autocommit, on a connection of its own. */
  readonly query: Query;
  /**
   * Several statements in one transaction. When it lost to a concurrent one (serialization failure, deadlock) it is
   * run again from the start, at most three times in all, so the work must do nothing outside the transaction.
   */
  transaction<T>(work: (query: Query) => Promise<T>): Promise<T>;
  /** Throws when the database does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

interface DatabaseOptions {
  readonly url: string;
  /** Shown by PostgreSQL as application_name. */
  readonly name: string;
  readonly log: Logger;
  /** To which the state of the pool is added. */
  readonly metrics?: Metrics;
  readonly poolSize?: number;
  readonly readConnections?: number;
  /** How long a statement waits for a server that says nothing, in milliseconds; within transactions longer. */
  readonly silenceMs?: number;
}

/** Epoch seconds and counts are bigint in SQL and fit a double. */
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

const transactionAttempts = 3;

/** The server itself ends a statement after this, in milliseconds, where a transaction does not say otherwise. */
const statementTimeoutMs = 30_000;

/** What a transaction may say at most: DDL over large tables takes minutes. */
const longestStatementMs = 330_000;

/** Idle connections are asked for a sign of life after this, in milliseconds: a machine that vanished says no goodbye. */
const keepAliveMs = 10_000;

/** Opens the connections (none is made before it is needed) and brings the system tables up to date. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const {
    url,
    name,
    log,
    metrics,
    poolSize = 10,
    readConnections = 2,
    silenceMs = statementTimeoutMs + 5000,
  } = options;
  const connection = {
    connectionString: url,
    application_name: `recordbus ${name}`,
    connectionTimeoutMillis: 5000,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: 30_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    query_timeout: silenceMs,
  };
  const pool = new pg.Pool({ ...connection, max: poolSize });
  pool.on('error', (error) => log.warn({ reason: error.message }, 'an idle connection to the database was lost'));
  if (metrics) measurePool(metrics, pool);
  const lane = new ReadLane({ connection, size: readConnections, log });

  /**
   * Lends a connection of the pool. One that failed or was silent is not used again, since what it was asked may still
   * be running; one whose statement was refused is.
   */
  async function onConnection<T>(work: (client: pg.PoolClient, discard: () => void) => Promise<T>): Promise<T> {
    const client = await pool.connect();
    let isBroken = false;
    const discard = () => {
      isBroken = true;
    };
    // Lost between two statements it tells nobody else, and what nobody hears ends the process.
    client.on('error', discard);
    try {
      return await work(client, discard);
    } catch (error) {
      if (isConnectionError(error)) discard();
      throw error;
    } finally {
      client.off('error', discard);
      client.release(isBroken);
    }
  }

  const query: Query = (statement) =>
    traced(statement, () => onConnection(async (client) => (await client.query(asPg(statement))).rows));

  const attempt = <T>(work: (query: Query) => Promise<T>): Promise<T> =>
    onConnection(async (client, discard) => {
      await client.query('begin');
      try {
        const result = await work((statement) =>
          traced(statement, async () => (await client.query(asPg(statement, longestStatementMs))).rows),
        );
        await client.query('commit');
        return result;
      } catch (error) {
        if (!isConnectionError(error)) await client.query('rollback').catch(discard);
        throw error;
      }
    });

  const database: Database = {
    read: (statement) => traced(statement, () => lane.read(statement)),
    query,
    async transaction(work) {
      for (let left = transactionAttempts - 1; ; left -= 1) {
        try {
          return await attempt(work);
        } catch (error) {
          const lost = isDatabaseError(error, sqlState.serializationFailure, sqlState.deadlockDetected);
          if (!lost || left === 0) throw error;
        }
      }
    },
    async ping() {
      await query({ text: 'select 1', values: [] });
    },
    async close() {
      await lane.close();
      await endPool(pool);
    },
  };
  await untilReachable(database, log);
  try {
    await demandServerVersion(query);
    await migrate(query, pool, log);
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}

/** How long a start waits for a database that is still starting itself, in milliseconds. */
const startPatienceMs = 60_000;

async function untilReachable(database: Database, log: Logger): Promise<void> {
  const givingUpMs = Date.now() + startPatienceMs;
  for (;;) {
    try {
      return await database.ping();
    } catch (error) {
      if (!isConnectionError(error) || Date.now() > givingUpMs) throw error;
      log.warn({ err: error }, 'waiting for the database');
      await setTimeout(500);
    }
  }
}

/** Longest wait for connections to be closed, in milliseconds: a server that says nothing does not close them. */
const closePatienceMs = 2000;

/** Ends a pool and waits until its connections are closed; by itself it only asks them to. */
async function endPool(pool: pg.Pool): Promise<void> {
  const allClosed = new Promise<void>((resolve) => {
    let open = pool.totalCount;
    if (open === 0) resolve();
    pool.on('remove', () => {
      open -= 1;
      if (open === 0) resolve();
    });
  });
  await pool.end();
  await Promise.race([allClosed, setTimeout(closePatienceMs, undefined, { ref: false })]);
}

const asPg = ({ name, text, values }: Statement, silenceMs?: number) => ({
  ...(name && { name }),
  ...(silenceMs && { query_timeout: silenceMs }),
  text,
  values: values as unknown[],
});

const traced = <T>(statement: Statement, work: () => Promise<T>): Promise<T> =>
  inSpan(
    statement.name ?? 'sql',
    {
      kind: SpanKind.CLIENT,
      onlyWithin: true,
      attributes: { 'db.system.name': 'postgresql', 'db.query.text': statement.text },
    },
    work,
  );
