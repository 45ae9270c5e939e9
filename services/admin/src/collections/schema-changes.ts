import { setTimeout } from 'node:timers/promises';
import type { Bus } from '@recordbus/bus';
import type { Envelope } from '@recordbus/crypto';
import { type Database, isDatabaseError, type Query, sqlState } from '@recordbus/database';
import { type Collection, loadCollections } from '@recordbus/schema';
import { unavailable } from '@recordbus/shared/errors';

/** One change of the schema while it is made: alone, in a transaction, with the collections as they are. */
export interface SchemaChange {
  readonly query: Query;
  readonly collections: readonly Collection[];
  /** Seals and opens what is stored of encrypted fields. */
  readonly envelope: Envelope;
  /** Runs planned DDL in its order. */
  execute(statements: readonly string[]): Promise<void>;
}

/** Makes changes of the schema, one after the other over all replicas, so that each sees what those before it did. */
export interface SchemaChanges {
  /**
   * Runs `work` in one transaction with all its DDL and, once that is committed, tells every replica. The work may run
   * several times when tables are in use, so it must do nothing outside the transaction.
   * Throws 503 when they stay in use.
   */
  make<T>(work: (change: SchemaChange) => Promise<T>): Promise<T>;
}

export interface SchemaChangesDeps {
  readonly database: Database;
  readonly bus: Pick<Bus, 'notify'>;
  readonly envelope: Envelope;
  /** Called after each change. */
  readonly onChanged?: () => void;
}

/**
 * How long a statement of DDL waits for a table. At first shorter than PostgreSQL's deadlock_timeout (1 s): in a
 * deadlock with records being written it is the schema change that gives way, and whoever queues up behind the waiting
 * DDL is held up no longer. Where writes never leave a gap, the database then has to decide, and it is a write that
 * may have to be made again (`Database.transaction` does that).
 */
const politeLockTimeoutMs = 400;
const politeAttempts = 4;
const lockTimeoutMs = 5000;

/** How long it is tried again, in milliseconds. */
const patienceMs = 20_000;

/** An index or a changed column over many rows takes its time, in milliseconds. */
const statementTimeoutMs = 300_000;

/** Makes the changer. */
export function createSchemaChanges({ database, bus, envelope, onChanged }: SchemaChangesDeps): SchemaChanges {
  const attempt = <T>(work: (change: SchemaChange) => Promise<T>, waitMs: number): Promise<T> =>
    database.transaction(async (query) => {
      const execute = async (statements: readonly string[]) => {
        for (const text of statements) await query({ text, values: [] });
      };
      await execute([
        "select pg_advisory_xact_lock(hashtext('recordbus.schema'))",
        `set local lock_timeout = ${waitMs}`,
        `set local statement_timeout = ${statementTimeoutMs}`,
      ]);
      const { collections } = await loadCollections(query);
      const result = await work({ query, collections, envelope, execute });
      await execute(["update system.versions set version = version + 1 where name = 'schema'"]);
      return result;
    });

  async function untilUnlocked<T>(work: (change: SchemaChange) => Promise<T>): Promise<T> {
    const givingUpMs = performance.now() + patienceMs;
    for (let attempts = 0; ; attempts += 1) {
      try {
        return await attempt(work, attempts < politeAttempts ? politeLockTimeoutMs : lockTimeoutMs);
      } catch (error) {
        if (!isDatabaseError(error, lockNotAvailable, sqlState.deadlockDetected)) throw error;
        if (performance.now() > givingUpMs) throw unavailable('the records are in use', error);
        await setTimeout(50 + Math.random() * 200);
      }
    }
  }

  // In line here already, not only at the lock in the database, where everyone waiting would hold a connection.
  let last: Promise<unknown> = Promise.resolve();
  return {
    async make(work) {
      const mine = last.then(() => untilUnlocked(work));
      last = mine.catch(() => {});
      const result = await mine;
      bus.notify('schema');
      onChanged?.();
      return result;
    },
  };
}

/** SQLSTATE of a lock that was not had within lock_timeout. */
const lockNotAvailable = '55P03';
