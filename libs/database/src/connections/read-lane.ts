import type { Duplex } from 'node:stream';
import { unavailable } from '@recordbus/errors';
import type { Logger } from '@recordbus/process/logging';
import type pg from 'pg';
import { BrokenAnswerError } from '../driver/answer-frames.ts';
import { GuardedClient, type GuardedConfig } from '../driver/guarded-client.ts';
import { applySettings, type PositionCheck, replicaPosition, type TransactionSettings } from '../driver/preludes.ts';
import { sendStatement } from '../driver/send-statement.ts';
import { createStatementNames, type StatementNames } from '../driver/statement-names.ts';
import { isConnectionError, isDatabaseError, sqlState } from '../errors.ts';
import type { Statement } from '../statement.ts';
import type { ClassMeter, MeterOf } from './class-meter.ts';

interface ReadLaneOptions {
  readonly connection: GuardedConfig;
  /** The settings that every statement carries behind a pooler. */
  readonly settings?: TransactionSettings | undefined;
  /** Whether the connections lead to a read replica. Then each read checks the replica's position. */
  readonly isReplica?: boolean;
  readonly size: number;
  /** Most reads in progress; further ones are refused. */
  readonly maxUnderWay: number;
  readonly log: Logger;
  readonly meterOf: MeterOf;
  readonly work: 'gets' | 'pages' | 'ownReads';
}

interface LaneSend {
  readonly isUnnamed: boolean;
  readonly check: PositionCheck | undefined;
  readonly settings: TransactionSettings | undefined;
}

interface LaneClient {
  readonly client: pg.Client;
  readonly names: StatementNames;
}

/**
 * A few connections that many reads share: statements are sent without waiting for earlier answers (the driver's
 * pipelining; for single-row reads, twice a pool's throughput). Only for short autocommit reads: a slow one delays
 * those behind it. A read that loses its connection is sent again once, on a new one.
 */
export class ReadLane {
  readonly #options: ReadLaneOptions;
  readonly #meter: ClassMeter;
  readonly #clients: (Promise<LaneClient> | undefined)[];
  #turn = 0;
  #underWay = 0;

  constructor(options: ReadLaneOptions) {
    this.#options = options;
    this.#clients = Array.from({ length: options.size });
    this.#meter = options.meterOf(options.work);
    this.#meter.watch({ inUse: () => this.#underWay, waiting: () => 0 });
    options.meterOf('reads').watch({
      connections: () => this.#clients.filter(Boolean).length,
      idle: () => (this.#underWay === 0 ? this.#clients.filter(Boolean).length : 0),
    });
  }

  /**
   * Runs a read, with settings of its own if given. On a read replica, also checks the replica's position.
   */
  async read<R>(statement: Statement, check?: PositionCheck, settings = this.#options.settings): Promise<R[]> {
    if (this.#underWay >= this.#options.maxUnderWay) {
      this.#meter.refused();
      throw unavailable('too many reads are waiting');
    }
    this.#underWay += 1;
    const send = (isUnnamed = false) => this.#send<R>(statement, { isUnnamed, check, settings });
    try {
      return await send();
    } catch (error) {
      if (isDatabaseError(error, sqlState.queryCanceled)) this.#meter.timedOut();
      // A pooler prepares the statement on another one of its connections. If that fails (a column is gone), the reads
      // that were sent after the first one find no such statement.
      if (isDatabaseError(error, sqlState.unknownStatement)) return await send(true);
      if (!isConnectionError(error) || isSilence(error) || error instanceof BrokenAnswerError) throw error;
      return await send();
    } finally {
      this.#underWay -= 1;
    }
  }

  async close(): Promise<void> {
    const clients = this.#clients.splice(0);
    await Promise.allSettled(clients.map(async (opened) => (await opened)?.client.end()));
  }

  async #send<R>(statement: Statement, { isUnnamed, ...options }: LaneSend): Promise<R[]> {
    this.#turn = (this.#turn + 1) % this.#options.size;
    const slot = this.#turn;
    this.#clients[slot] ??= this.#connect(slot);
    const { client, names } = await this.#clients[slot];
    writeTogether(client.connection.stream);
    return names.use(isUnnamed ? undefined : statement.name, (usable) =>
      sendStatement<R>(client, statement, { isUnnamed: usable === undefined, ...options }),
    );
  }

  async #connect(slot: number): Promise<LaneClient> {
    const { connection, isReplica } = this.#options;
    const client = new GuardedClient({ ...connection, pipeline: true });
    const drop = () => {
      this.#clients[slot] = undefined;
    };
    client.on('error', (error) => {
      this.#options.log.warn({ reason: error.message }, 'lost a connection for reads');
      drop();
    });
    client.on('end', drop);
    try {
      await client.connect();
      await sendStatement(client, applySettings('{}'));
      if (isReplica) await sendStatement(client, replicaPosition(0));
      return { client, names: createStatementNames() };
    } catch (error) {
      drop();
      throw error;
    }
  }
}

/** Whether the server was silent for the whole statement time. A repeated read would wait as long again. */
const isSilence = (error: unknown): boolean => error instanceof Error && error.message === 'Query read timeout';

/**
 * Sends everything that is written in this event loop turn as one write. Each write wakes the server process, which on
 * a busy server costs more than the rest of a small read.
 */
function writeTogether(stream: Duplex): void {
  if (stream.writableCorked > 0) return;
  stream.cork();
  setImmediate(() => stream.uncork());
}
