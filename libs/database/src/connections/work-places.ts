import { AppError, rateLimited, unavailable } from '@recordbus/errors';
import { type Caller, createFairGate, type FairGate, ownCaller } from '@recordbus/limits/fair-gate';
import { currentCaller } from '@recordbus/request/request-scope';
import type pg from 'pg';
import { GroupError, sendGroup } from '../driver/group-query.ts';
import type { PositionCheck } from '../driver/preludes.ts';
import { sendStatement } from '../driver/send-statement.ts';
import { isConnectionError, isDatabaseError, sqlState } from '../errors.ts';
import type { Query, Statement } from '../statement.ts';
import type { CancelStatement } from './cancel-statement.ts';
import type { ClassMeter } from './class-meter.ts';
import { classOf, placesOf, type WorkName, workOf } from './connection-budget.ts';
import type { Lend, PoolOptions } from './connection-pool.ts';
import type { SessionSettings } from './session-settings.ts';
import { withinLimit } from './within-limit.ts';

/** The places that one kind of work has on a class. Clients take turns. */
export interface WorkPlaces {
  /**
   * Runs one statement in autocommit, within the given statement time or the class's. On a read replica, also
   * checks the replica's position.
   */
  query<R>(statement: Statement, statementMs?: number, check?: PositionCheck): Promise<R[]>;
  /**
   * Runs several statements in one round trip and one commit: all commit, or none. Returns each statement's rows.
   * Throws GroupError if the server refuses one.
   */
  group(statements: readonly Statement[]): Promise<readonly unknown[][]>;
  /** Runs several statements in one transaction. */
  transaction<T>(work: (query: Query) => Promise<T>, statementMs?: number): Promise<T>;
  /** Returns the same places for work whose transactions have additional settings. */
  with(settings: SessionSettings): WorkPlaces;
  /** Whether another caller's work waits for the place that this caller holds. */
  isWanted(caller: Caller): boolean;
}

/** Functions that the places call. */
export interface WorkHooks {
  /** Returns how many places there currently are; all by default. */
  readonly placesNow?: () => number;
  /** Called when work for a client begins. */
  readonly onWork?: () => void;
  /** Creates the error for work that got no place; by default 503. */
  readonly refuse?: (because: 'client' | 'all') => Error;
  /** Ends statements that reach their own limit. Without it, statements have no limits of their own. */
  readonly cancel?: CancelStatement;
  /** Called with the time that a statement outside transactions took on its connection, in milliseconds. */
  readonly onRan?: (statement: Statement, tookMs: number) => void;
  /** The same without its commit's time. Only for statements with a name. */
  readonly onExecuted?: (statement: Statement, tookMs: number) => void;
}

interface WorkOptions extends Pick<PoolOptions, 'maxConnections' | 'meterOf' | 'sessions' | 'silenceMs'> {
  readonly work: WorkName;
  readonly lend: Lend;
  readonly hooks?: WorkHooks | undefined;
  /** Its transactions' additional settings. */
  readonly settings?: SessionSettings;
}

/** The longest statement time that a transaction may set: DDL over large tables takes minutes. */
const longestStatementMs = 330_000;

/** How much longer than the statement time a process waits for the server, in milliseconds. */
const silenceMarginMs = 5000;

/** Creates the places. */
export function createWorkPlaces(options: WorkOptions): WorkPlaces {
  const meter = options.meterOf(options.work);
  const gate = createGate(options, meter);
  meter.watch({ inUse: () => gate.running, waiting: () => gate.waiting });
  return new Places(options, gate, meter);
}

class Places implements WorkPlaces {
  readonly #options: WorkOptions;
  readonly #hooks: WorkHooks;
  readonly #gate: FairGate;
  readonly #meter: ClassMeter;
  readonly #statementMs: number;

  constructor(options: WorkOptions, gate: FairGate, meter: ClassMeter) {
    this.#options = options;
    this.#hooks = options.hooks ?? {};
    this.#gate = gate;
    this.#meter = meter;
    this.#statementMs = classOf(workOf(options.work).on).statementMs;
  }

  query<R>(statement: Statement, statementMs = this.#statementMs, check?: PositionCheck): Promise<R[]> {
    return this.#run((client) => this.#sendAlone(client, statement, statementMs, check));
  }

  group(statements: readonly Statement[]): Promise<readonly unknown[][]> {
    const statementMs = this.#statementMs;
    const { sessions, settings, silenceMs = statementMs * statements.length + silenceMarginMs } = this.#options;
    return this.#run(async (client) => {
      const own = await sessions.prepare(client, statementMs, settings);
      return sendGroup(client, statements, { settings: own, silenceMs });
    });
  }

  transaction<T>(work: (query: Query) => Promise<T>, statementMs = this.#statementMs): Promise<T> {
    return this.#run(async (client, discard) => {
      const { sessions, settings } = this.#options;
      await sessions.begin(client, statementMs, settings);
      const send = async <R>(statement: Statement): Promise<R[]> => {
        const isLimited = statement.limitMs !== undefined && this.#hooks.cancel !== undefined;
        const processId = isLimited ? await sessions.processOfTransaction(client) : undefined;
        const startedAtMs = performance.now();
        const running = sendStatement<R>(client, statement, { silenceMs: longestStatementMs });
        const ended = this.#limited(running, statement, () => processId);
        return statement.onRan ? ended.finally(() => statement.onRan?.(performance.now() - startedAtMs)) : ended;
      };
      try {
        const result = await work(send);
        await client.query('commit');
        return result;
      } catch (error) {
        if (!isConnectionError(error)) await client.query('rollback').catch(discard);
        throw error;
      }
    });
  }

  with(settings: SessionSettings): WorkPlaces {
    return new Places({ ...this.#options, settings }, this.#gate, this.#meter);
  }

  isWanted(caller: Caller): boolean {
    return this.#gate.isWanted(caller);
  }

  /** Sends a statement outside a transaction. */
  async #sendAlone<R>(
    client: pg.PoolClient,
    statement: Statement,
    statementMs: number,
    check: PositionCheck | undefined,
  ): Promise<R[]> {
    const { sessions, silenceMs = statementMs + silenceMarginMs } = this.#options;
    const { onRan, onExecuted } = this.#hooks;
    const settings = await sessions.prepare(client, statementMs, this.#options.settings);
    const startedAtMs = performance.now();
    let processId = sessions.processOf(client);
    const onProcess = (id: number) => {
      processId = id;
    };
    const running = sendStatement<R>(client, statement, {
      silenceMs,
      settings,
      check,
      ...(statement.limitMs !== undefined && { onProcess }),
      ...(onExecuted &&
        statement.name !== undefined && { onExecuted: () => onExecuted(statement, performance.now() - startedAtMs) }),
    });
    const ended = this.#limited(running, statement, () => processId);
    if (!onRan && !statement.onRan) return ended;
    return ended.finally(() => {
      const tookMs = performance.now() - startedAtMs;
      onRan?.(statement, tookMs);
      statement.onRan?.(tookMs);
    });
  }

  /** Ends a statement that has its own limit when it reaches the limit. */
  #limited<R>(running: Promise<R[]>, statement: Statement, processOf: () => number | undefined): Promise<R[]> {
    const { limitMs } = statement;
    const { cancel } = this.#hooks;
    if (limitMs === undefined || !cancel) return running;
    return withinLimit(running, {
      limitMs,
      cancel: async () => {
        const processId = processOf();
        return processId !== undefined && cancel(processId, statement);
      },
    });
  }

  #run<T>(work: (client: pg.PoolClient, discard: () => void) => Promise<T>): Promise<T> {
    const caller = currentCaller();
    if (caller !== ownCaller) this.#hooks.onWork?.();
    return this.#gate.run(caller, async () => {
      try {
        return await this.#options.lend(work);
      } catch (error) {
        if (isDatabaseError(causeOf(error), sqlState.queryCanceled)) this.#meter.timedOut();
        throw error;
      }
    });
  }
}

/** The database's error that caused a refusal, or a group's error. */
export const causeOf = (error: unknown): unknown =>
  error instanceof AppError || error instanceof GroupError ? error.cause : error;

function createGate({ work, maxConnections, hooks = {} }: WorkOptions, meter: ClassMeter): FairGate {
  const { perClient, reserved = 0, maxWaiting, waitMs } = workOf(work);
  const places = placesOf(work, maxConnections);
  const { placesNow } = hooks;
  return createFairGate({
    width: places,
    ...(placesNow && { widthNow: () => Math.min(placesNow(), places) }),
    widthPerClient: Math.min(perClient ?? places, places),
    reserved,
    maxWaiting,
    maxWaitMs: waitMs,
    refuse(because) {
      meter.refused();
      const usual = because === 'client' ? rateLimited(1) : unavailable('all connections to the database are in use');
      return hooks.refuse?.(because) ?? usual;
    },
    onWaited: meter.waited,
  });
}
