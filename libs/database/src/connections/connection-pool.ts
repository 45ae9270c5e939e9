import { AppError, unavailable } from '@recordbus/shared/errors';
import { createFairGate, type FairGate } from '@recordbus/shared/fair-gate';
import type { Logger } from '@recordbus/shared/logging';
import { currentClient } from '@recordbus/shared/request-scope';
import pg from 'pg';
import { GuardedClient } from '../driver/guarded-client.ts';
import { sendStatement } from '../driver/send-statement.ts';
import { isConnectionError, isDatabaseError, sqlState } from '../errors.ts';
import type { Query, Statement } from '../statement.ts';
import type { CancelStatement } from './cancel-statement.ts';
import type { ClassMeter } from './class-meter.ts';
import { type ClassName, type ConnectionClass, classOf } from './connection-budget.ts';
import { endPool } from './end-pool.ts';
import { withinLimit } from './within-limit.ts';

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

/** The functions of its owner that a pool calls. */
export interface PoolHooks {
  /** Returns how many connections may be lent now. Without it, all may be lent. */
  readonly connectionsNow?: () => number;
  /** Called when work for a client begins. */
  readonly onWork?: () => void;
  /** Creates the error of work that got no connection; by default 503. */
  readonly refuse?: (because: 'client' | 'all') => Error;
  /** Ends statements that reach their own limit. Without it, statements have no such limit. */
  readonly cancel?: CancelStatement;
}

interface PoolOptions extends PoolHooks {
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

/** The client name for the product's own work. */
const ownClient = 'own';

type Work<T> = (client: pg.PoolClient, discard: () => void) => Promise<T>;

/** Creates the pool of a class. Connections open when needed, and close after ten idle seconds. */
export const createConnectionPool = (options: PoolOptions): ConnectionPool => new ClassPool(options);

class ClassPool implements ConnectionPool {
  readonly driverPool: pg.Pool;
  readonly #options: PoolOptions;
  readonly #budget: ConnectionClass;
  readonly #gate: FairGate;
  /** The statement times of sessions, in milliseconds. */
  readonly #statementMsOf = new WeakMap<pg.PoolClient, number>();

  constructor(options: PoolOptions) {
    const { name, connections, connection, log, meter } = options;
    this.#options = options;
    this.#budget = classOf(name);
    const pool = new pg.Pool({
      ...connection,
      statement_timeout: this.#budget.statementMs,
      max: connections,
      Client: GuardedClient,
    });
    pool.on('error', (error) => log.warn({ reason: error.message }, 'lost an idle connection to the database'));
    this.driverPool = pool;
    const gate = createGate(options, this.#budget);
    this.#gate = gate;
    meter.watch({
      connections: () => pool.totalCount,
      idle: () => pool.idleCount,
      inUse: () => gate.running,
      waiting: () => gate.waiting,
    });
  }

  query<R>(statement: Statement, statementMs = this.#budget.statementMs): Promise<R[]> {
    const silenceMs = this.#options.silenceMs ?? statementMs + silenceMarginMs;
    return this.#run((client) => this.#send(client, statement, silenceMs), statementMs);
  }

  transaction<T>(work: (query: Query) => Promise<T>, statementMs = this.#budget.statementMs): Promise<T> {
    return this.#run(async (client, discard) => {
      await client.query('begin');
      try {
        const result = await work((statement) => this.#send(client, statement, longestStatementMs));
        await client.query('commit');
        return result;
      } catch (error) {
        if (!isConnectionError(error)) await client.query('rollback').catch(discard);
        throw error;
      }
    }, statementMs);
  }

  close(): Promise<void> {
    return endPool(this.driverPool);
  }

  /** Sends a statement. One with a limit of its own ends after that. */
  #send<R>(client: pg.PoolClient, statement: Statement, silenceMs: number): Promise<R[]> {
    const running = sendStatement<R>(client, statement, { silenceMs });
    const { limitMs } = statement;
    const { cancel } = this.#options;
    const processId = processIdOf(client);
    if (limitMs === undefined || !cancel || processId === undefined) return running;
    return withinLimit(running, { limitMs, cancel: () => cancel(processId, statement) });
  }

  #run<T>(work: Work<T>, statementMs: number): Promise<T> {
    const client = currentClient();
    if (client !== undefined) this.#options.onWork?.();
    return this.#gate.run(client ?? ownClient, () => this.#lend(work, statementMs));
  }

  /**
   * Runs work on a connection. A connection that failed or was silent is not used again, since its statement may still be
   * running. A connection whose statement was refused is used again.
   */
  async #lend<T>(work: Work<T>, statementMs: number): Promise<T> {
    const client = await this.driverPool.connect();
    let isBroken = false;
    const discard = () => {
      isBroken = true;
    };
    // An unhandled error event between two statements would end the process.
    client.on('error', discard);
    try {
      await this.#prepareSession(client, statementMs);
      return await work(client, discard);
    } catch (error) {
      if (isConnectionError(error)) discard();
      if (isDatabaseError(causeOf(error), sqlState.queryCanceled)) this.#options.meter.timedOut();
      throw error;
    } finally {
      client.off('error', discard);
      client.release(isBroken);
    }
  }

  /** Sets what the session does not have yet. A connection starts with the statement time of its class. */
  async #prepareSession(client: pg.PoolClient, statementMs: number): Promise<void> {
    const { session, statementMs: initialMs } = this.#budget;
    const currentMs = this.#statementMsOf.get(client) ?? (session === undefined ? initialMs : undefined);
    if (currentMs === statementMs) return;
    await client.query(`set statement_timeout = ${statementMs}${session === undefined ? '' : `; ${session}`}`);
    this.#statementMsOf.set(client, statementMs);
  }
}

/** The error of the database behind a refusal. */
const causeOf = (error: unknown): unknown => (error instanceof AppError ? error.cause : error);

/** The id of the server's process that serves a connection. @types/pg lacks it. */
const processIdOf = (client: pg.PoolClient & { readonly processID?: number | null }): number | undefined =>
  client.processID ?? undefined;

const createGate = ({ connections, connectionsNow, meter, refuse }: PoolOptions, budget: ConnectionClass): FairGate =>
  createFairGate({
    width: connections,
    ...(connectionsNow && { widthNow: () => Math.min(connectionsNow(), connections) }),
    widthPerClient: Math.min(budget.perClient ?? connections, connections),
    maxWaiting: budget.maxWaiting,
    maxWaitMs: budget.waitMs,
    refuse(because) {
      meter.refused();
      return refuse?.(because) ?? unavailable('all connections to the database are in use');
    },
    onWaited: meter.waited,
  });
