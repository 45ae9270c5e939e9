import { setTimeout } from 'node:timers/promises';
import { unavailable } from '@recordbus/errors';
import type { Logger } from '@recordbus/process/logging';
import pg from 'pg';
import { GuardedClient, type GuardedConfig } from '../driver/guarded-client.ts';
import { isConnectionError, isDatabaseError, sqlState } from '../errors.ts';
import type { MeterOf } from './class-meter.ts';
import { type ClassName, classOf, connectionsOf, type WorkName } from './connection-budget.ts';
import type { Sessions } from './sessions.ts';
import { causeOf, createWorkPlaces, type WorkHooks, type WorkPlaces } from './work-places.ts';

/** One class's connections. */
export interface ConnectionPool {
  /** Creates the places that a kind of work has on these connections. */
  placesOf(work: WorkName, hooks?: WorkHooks): WorkPlaces;
  /** The driver's pool, for libraries that send their own statements. */
  readonly driverPool: pg.Pool;
  close(): Promise<void>;
}

/** Runs work on a connection. The work calls `discard` if the connection must not be used again. */
export type Lend = <T>(work: (client: pg.PoolClient, discard: () => void) => Promise<T>) => Promise<T>;

export interface PoolOptions {
  readonly name: ClassName;
  /** The most connections for each kind of work; by default the budget's. */
  readonly maxConnections?: number | undefined;
  readonly connection: GuardedConfig;
  readonly sessions: Sessions;
  readonly log: Logger;
  readonly meterOf: MeterOf;
  /** How long a statement waits for a silent server, in milliseconds. The default follows from the statement time. */
  readonly silenceMs?: number | undefined;
}

/** Creates a class's pool. Connections open when needed, and close after ten idle seconds. */
export function createConnectionPool(options: PoolOptions): ConnectionPool {
  const { name, maxConnections, connection, log, meterOf } = options;
  const driverPool = new pg.Pool({ ...connection, max: connectionsOf(name, maxConnections), Client: GuardedClient });
  driverPool.on('error', (error) => log.warn({ reason: error.message }, 'lost an idle connection to the database'));
  meterOf(name).watch({ connections: () => driverPool.totalCount, idle: () => driverPool.idleCount });
  const lend = createLend(driverPool, classOf(name).settings?.default_transaction_read_only === undefined);
  return {
    placesOf: (work, hooks) => createWorkPlaces({ ...options, work, lend, hooks }),
    driverPool,
    close: () => endPool(driverPool),
  };
}

/**
 * Creates the function that lends connections. A connection that failed or was silent is not used again, since its
 * statement may still be running. A connection whose statement was refused is used again.
 */
const createLend =
  (pool: pg.Pool, isForWrites: boolean): Lend =>
  async (work) => {
    const client = await pool.connect();
    let isBroken = false;
    const discard = () => {
      isBroken = true;
    };
    // An unhandled error event between two statements would end the process.
    client.on('error', discard);
    try {
      return await work(client, discard);
    } catch (error) {
      const cause = causeOf(error);
      if (isConnectionError(cause)) discard();
      if (!isForWrites || !isDatabaseError(cause, sqlState.readOnlyTransaction)) throw error;
      // The server is now a standby, or was made read-only.
      discard();
      if (client instanceof GuardedClient) client.suspectPrimary();
      throw unavailable('the database takes no writes now', error);
    } finally {
      client.off('error', discard);
      client.release(isBroken);
    }
  };

/** The longest wait for connections to close, in milliseconds: a silent server never closes them. */
const closePatienceMs = 2000;

/** Ends a pool and waits until its connections are closed. The driver's own `end` does not wait. */
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
