import { AppError, rateLimited, unavailable } from '@recordbus/shared/errors';
import { type Caller, createFairGate, type FairGate, ownCaller } from '@recordbus/shared/fair-gate';
import type { Logger } from '@recordbus/shared/logging';
import { currentCaller } from '@recordbus/shared/request-scope';
import pg from 'pg';
import { GroupError } from '../driver/group-query.ts';
import { GuardedClient, type GuardedConfig } from '../driver/guarded-client.ts';
import type { PositionCheck } from '../driver/preludes.ts';
import { sendGroup } from '../driver/send-group.ts';
import { sendStatement } from '../driver/send-statement.ts';
import { isConnectionError, isDatabaseError, sqlState } from '../errors.ts';
import type { Query, Statement } from '../statement.ts';
import type { CancelStatement } from './cancel-statement.ts';
import type { ClassMeter } from './class-meter.ts';
import { type ClassName, type ConnectionClass, classOf } from './connection-budget.ts';
import { endPool } from './end-pool.ts';
import type { Sessions } from './sessions.ts';
import { withinLimit } from './within-limit.ts';

/** The connections of one class. */
export interface ConnectionPool {
  /**
   * Runs one statement in autocommit, within the given statement time or that of the class. On a read replica, also
   * checks the replica's position.
   */
  query<R>(statement: Statement, statementMs?: number, check?: PositionCheck): Promise<R[]>;
  /**
   * Runs several statements in one round trip and one commit: all of them commit, or none. Returns the rows of each.
   * Throws GroupError if the server refuses one.
   */
  group(statements: readonly Statement[]): Promise<readonly unknown[][]>;
  /** Runs several statements in one transaction. */
  transaction<T>(work: (query: Query) => Promise<T>, statementMs?: number): Promise<T>;
  /** Whether work of another caller waits for the connection that this caller holds. */
  isWanted(caller: Caller): boolean;
  /** The driver's pool, for libraries that send their own statements. */
  readonly driverPool: pg.Pool;
  close(): Promise<void>;
}

/** Functions of the pool's owner that the pool calls. */
export interface PoolHooks {
  /** Returns how many connections may currently be lent; all by default. */
  readonly connectionsNow?: () => number;
  /** Called when work for a client begins. */
  readonly onWork?: () => void;
  /** Creates the error of work that got no connection; by default 503. */
  readonly refuse?: (because: 'client' | 'all') => Error;
  /** Ends statements that reach their own limit. Without it, statements have no limits of their own. */
  readonly cancel?: CancelStatement;
  /** Called with the time that a statement outside transactions took on its connection, in milliseconds. */
  readonly onRan?: (statement: Statement, tookMs: number) => void;
  /** The same without the time of its commit. Only for statements with a name. */
  readonly onExecuted?: (statement: Statement, tookMs: number) => void;
  /** Called when the server of a connection takes no writes, in a class that writes. */
  readonly onReadOnly?: (client: pg.PoolClient) => unknown;
}

interface PoolOptions extends PoolHooks {
  readonly name: ClassName;
  readonly connections: number;
  readonly connection: GuardedConfig;
  readonly sessions: Sessions;
  readonly log: Logger;
  readonly meter: ClassMeter;
  /** How long a statement waits for a silent server, in milliseconds. The default follows from the statement time. */
  readonly silenceMs?: number | undefined;
}

/** The longest statement time that a transaction may set: DDL over large tables takes minutes. */
const longestStatementMs = 330_000;

/** How much longer than the statement time a process waits for the server, in milliseconds. */
const silenceMarginMs = 5000;

interface StatementLimits {
  readonly statementMs: number;
  readonly silenceMs: number;
  readonly check: PositionCheck | undefined;
}

type Work<T> = (client: pg.PoolClient, discard: () => void) => Promise<T>;

/** Creates the pool of a class. Connections open when needed, and close after ten idle seconds. */
export const createConnectionPool = (options: PoolOptions): ConnectionPool => new ClassPool(options);

class ClassPool implements ConnectionPool {
  readonly driverPool: pg.Pool;
  readonly #options: PoolOptions;
  readonly #budget: ConnectionClass;
  readonly #gate: FairGate;

  constructor(options: PoolOptions) {
    const { name, connections, connection, log, meter } = options;
    this.#options = options;
    this.#budget = classOf(name);
    const pool = new pg.Pool({
      ...connection,
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

  query<R>(statement: Statement, statementMs = this.#budget.statementMs, check?: PositionCheck): Promise<R[]> {
    const silenceMs = this.#options.silenceMs ?? statementMs + silenceMarginMs;
    return this.#run((client) => this.#sendAlone(client, statement, { statementMs, silenceMs, check }), statementMs);
  }

  group(statements: readonly Statement[]): Promise<readonly unknown[][]> {
    const { statementMs } = this.#budget;
    const { sessions, silenceMs = statementMs * statements.length + silenceMarginMs } = this.#options;
    const settings = sessions.settingsOf(statementMs);
    return this.#run((client) => sendGroup(client, statements, { settings, silenceMs }), statementMs);
  }

  transaction<T>(work: (query: Query) => Promise<T>, statementMs = this.#budget.statementMs): Promise<T> {
    return this.#run(async (client, discard) => {
      const { sessions, cancel } = this.#options;
      await sessions.begin(client, statementMs);
      const send = async <R>(statement: Statement): Promise<R[]> => {
        const isLimited = statement.limitMs !== undefined && cancel !== undefined;
        const processId = isLimited ? await sessions.processOfTransaction(client) : undefined;
        const running = sendStatement<R>(client, statement, { silenceMs: longestStatementMs });
        return this.#limited(running, statement, () => processId);
      };
      try {
        const result = await work(send);
        await client.query('commit');
        return result;
      } catch (error) {
        if (!isConnectionError(error)) await client.query('rollback').catch(discard);
        throw error;
      }
    }, statementMs);
  }

  isWanted(caller: Caller): boolean {
    return this.#gate.isWanted(caller);
  }

  close(): Promise<void> {
    return endPool(this.driverPool);
  }

  /** Sends a statement outside a transaction. */
  #sendAlone<R>(
    client: pg.PoolClient,
    statement: Statement,
    { statementMs, silenceMs, check }: StatementLimits,
  ): Promise<R[]> {
    const { sessions, onRan, onExecuted } = this.#options;
    const startedAtMs = onRan || onExecuted ? performance.now() : 0;
    let processId = sessions.processOf(client);
    const onProcess = (id: number) => {
      processId = id;
    };
    const settings = sessions.settingsOf(statementMs);
    const running = sendStatement<R>(client, statement, {
      silenceMs,
      settings,
      check,
      ...(statement.limitMs !== undefined && { onProcess }),
      ...(onExecuted &&
        statement.name !== undefined && { onExecuted: () => onExecuted(statement, performance.now() - startedAtMs) }),
    });
    const ended = this.#limited(running, statement, () => processId);
    return onRan ? ended.finally(() => onRan(statement, performance.now() - startedAtMs)) : ended;
  }

  /** Ends a statement that has its own limit when it reaches the limit. */
  #limited<R>(running: Promise<R[]>, statement: Statement, processOf: () => number | undefined): Promise<R[]> {
    const { limitMs } = statement;
    const { cancel } = this.#options;
    if (limitMs === undefined || !cancel) return running;
    return withinLimit(running, {
      limitMs,
      cancel: async () => {
        const processId = processOf();
        return processId !== undefined && cancel(processId, statement);
      },
    });
  }

  #run<T>(work: Work<T>, statementMs: number): Promise<T> {
    const caller = currentCaller();
    if (caller !== ownCaller) this.#options.onWork?.();
    return this.#gate.run(caller, () => this.#lend(work, statementMs));
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
      await this.#options.sessions.prepare(client, statementMs);
      return await work(client, discard);
    } catch (error) {
      if (isConnectionError(causeOf(error))) discard();
      if (isDatabaseError(causeOf(error), sqlState.queryCanceled)) this.#options.meter.timedOut();
      if (!isReadOnly(causeOf(error), this.#budget)) throw error;
      discard();
      this.#options.onReadOnly?.(client);
      throw unavailable('the database takes no writes now', error);
    } finally {
      client.off('error', discard);
      client.release(isBroken);
    }
  }
}

/** Whether the server of a class that writes takes no writes, because it is now a standby or was made read-only. */
const isReadOnly = (error: unknown, { settings }: ConnectionClass): boolean =>
  isDatabaseError(error, sqlState.readOnlyTransaction) && settings?.default_transaction_read_only === undefined;

/** The error of the database that caused a refusal, or the error of a group. */
const causeOf = (error: unknown): unknown =>
  error instanceof AppError || error instanceof GroupError ? error.cause : error;

const createGate = ({ connections, connectionsNow, meter, refuse }: PoolOptions, budget: ConnectionClass): FairGate =>
  createFairGate({
    width: connections,
    ...(connectionsNow && { widthNow: () => Math.min(connectionsNow(), connections) }),
    widthPerClient: Math.min(budget.perClient ?? connections, connections),
    reserved: budget.reserved ?? 0,
    maxWaiting: budget.maxWaiting,
    maxWaitMs: budget.waitMs,
    refuse(because) {
      meter.refused();
      const usual = because === 'client' ? rateLimited(1) : unavailable('all connections to the database are in use');
      return refuse?.(because) ?? usual;
    },
    onWaited: meter.waited,
  });
