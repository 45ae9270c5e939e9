import { type AppError, unavailable } from '@recordbus/shared/errors';
import { createFairGate } from '@recordbus/shared/fair-gate';
import type { Logger } from '@recordbus/shared/logging';
import { currentClient } from '@recordbus/shared/request-scope';
import pg from 'pg';
import type { ClassMeter } from './class-meter.ts';
import { type ClassName, classOf } from './connection-budget.ts';
import { endPool } from './end-pool.ts';
import { isConnectionError, isDatabaseError, sqlState } from './errors.ts';
import { GuardedClient } from './guarded-client.ts';
import { sendStatement } from './send-statement.ts';
import type { Query, Statement } from './statement.ts';

/** The connections of one class. */
export interface ConnectionPool {
  /** Runs one statement in autocommit, within the statement time of the class unless another is given. */
  query<R>(statement: Statement, statementMs?: number): Promise<R[]>;
  /** Runs several statements in one transaction. */
  transaction<T>(work: (query: Query) => Promise<T>, statementMs?: number): Promise<T>;
  /** The driver's pool, for libraries that send their own statements. */
  readonly driverPool: pg.Pool;
  close(): Promise<void>;
}

interface PoolOptions {
  readonly name: ClassName;
  readonly connections: number;
  readonly connection: pg.ClientConfig;
  readonly log: Logger;
  readonly meter: ClassMeter;
  /** How long a statement waits for a silent server, in milliseconds. The default follows from the statement time. */
  readonly silenceMs?: number | undefined;
}

/** The longest statement time that a transaction may set: DDL over large tables takes minutes. */
const longestStatementMs = 330_000;

/** How much longer than the server a process waits for the end of a statement, in milliseconds. */
const silenceMarginMs = 5000;

/** The client name of work of the product itself. */
const ownClient = 'own';

/** Creates the pool of a class. Connections open when needed, and close after ten idle seconds. */
export function createConnectionPool(options: PoolOptions): ConnectionPool {
  const { name, connections, connection, log, meter } = options;
  const budget = classOf(name);
  const silenceOf = (statementMs: number) => options.silenceMs ?? statementMs + silenceMarginMs;
  const pool = new pg.Pool({
    ...connection,
    statement_timeout: budget.statementMs,
    max: connections,
    Client: GuardedClient,
  });
  pool.on('error', (error) => log.warn({ reason: error.message }, 'lost an idle connection to the database'));
  const gate = createFairGate({
    width: connections,
    widthPerClient: Math.min(budget.perClient ?? connections, connections),
    maxWaiting: budget.maxWaiting,
    maxWaitMs: budget.waitMs,
    refuse: () => refusal(),
    onWaited: meter.waited,
  });
  meter.watch({
    connections: () => pool.totalCount,
    idle: () => pool.idleCount,
    inUse: () => gate.running,
    waiting: () => gate.waiting,
  });
  const settingsOf = (statementMs: number): string =>
    `set statement_timeout = ${statementMs}${budget.session === undefined ? '' : `; ${budget.session}`}`;
  const settingsAtStart = budget.session === undefined ? settingsOf(budget.statementMs) : '';
  /** The settings that a session already has. */
  const sessions = new WeakMap<pg.PoolClient, string>();

  function refusal(): AppError {
    meter.refused();
    return unavailable('all connections to the database are in use');
  }

  async function prepareSession(client: pg.PoolClient, statementMs: number): Promise<void> {
    const settings = settingsOf(statementMs);
    if ((sessions.get(client) ?? settingsAtStart) === settings) return;
    await client.query(settings);
    sessions.set(client, settings);
  }

  /**
   * Runs work on a connection. A connection that failed or was silent is not used again, since its statement may still be
   * running. One whose statement was refused is.
   */
  async function lend<T>(
    work: (client: pg.PoolClient, discard: () => void) => Promise<T>,
    statementMs: number,
  ): Promise<T> {
    const client = await pool.connect();
    let isBroken = false;
    const discard = () => {
      isBroken = true;
    };
    // An unhandled error event between two statements would end the process.
    client.on('error', discard);
    try {
      await prepareSession(client, statementMs);
      return await work(client, discard);
    } catch (error) {
      if (isConnectionError(error)) discard();
      if (isDatabaseError(error, sqlState.queryCanceled)) meter.timedOut();
      throw error;
    } finally {
      client.off('error', discard);
      client.release(isBroken);
    }
  }

  const run = <T>(work: (client: pg.PoolClient, discard: () => void) => Promise<T>, statementMs: number): Promise<T> =>
    gate.run(currentClient() ?? ownClient, () => lend(work, statementMs));

  return {
    query: (statement, statementMs = budget.statementMs) =>
      run((client) => sendStatement(client, statement, { silenceMs: silenceOf(statementMs) }), statementMs),
    transaction: (work, statementMs = budget.statementMs) =>
      run(async (client, discard) => {
        await client.query('begin');
        try {
          const result = await work((statement) => sendStatement(client, statement, { silenceMs: longestStatementMs }));
          await client.query('commit');
          return result;
        } catch (error) {
          if (!isConnectionError(error)) await client.query('rollback').catch(discard);
          throw error;
        }
      }, statementMs),
    driverPool: pool,
    close: () => endPool(pool),
  };
}
