import { setTimeout } from 'node:timers/promises';
import type { Bus } from '@recordbus/bus';
import type { ValueCipher } from '@recordbus/crypto';
import { type Database, isDatabaseError, locks, type Query, sqlState, takeLock } from '@recordbus/database';
import { unavailable } from '@recordbus/errors';
import { type Collection, loadCollections } from '@recordbus/schema';
import { followInFilters } from '../references/follow-filters.ts';
import { followInExpressions, readFollowedSettings } from '../references/follow-settings.ts';
import { createAnalystViews, dropAnalystViews } from './analyst-views.ts';
import { keepSignInTriggers } from './sign-in-triggers.ts';

/** A running schema change: the only one, in a transaction, with the current collections. */
export interface SchemaChange {
  readonly query: Query;
  readonly collections: readonly Collection[];
  /** Encrypts and decrypts the values stored in encrypted fields. */
  readonly cipher: ValueCipher;
  /** Runs planned DDL in order. */
  execute(statements: readonly string[]): Promise<void>;
  /** Declares that the work writes nothing: the schema keeps its version and no replica is notified. */
  leaveUnchanged(): void;
}

/** Runs schema changes one after the other over all replicas, so that each sees the ones before (collections §9.1). */
export interface SchemaChanges {
  /**
   * Runs `work` in one transaction with all its DDL and notifies every replica after the commit. The work may run several
   * times when tables are in use, so it must do nothing outside the transaction.
   * Throws 503 when the tables stay in use (collections §9.3).
   */
  make<T>(work: (change: SchemaChange) => Promise<T>): Promise<T>;
}

export interface SchemaChangesDeps {
  readonly database: Database;
  readonly bus: Pick<Bus, 'notify'>;
  readonly cipher: ValueCipher;
  /** Called after each change. */
  readonly onChanged?: () => void;
}

/**
 * How long a DDL statement waits for a table. The first attempts wait for less than PostgreSQL's deadlock_timeout (1
 * s): in a deadlock with record writes the schema change gives way, and statements queued behind the DDL wait no longer
 * than that. Where writes never leave a gap, a longer wait lets the database resolve the deadlock. It may then cancel a
 * write, which `Database.transaction` repeats.
 */
const shortLockTimeoutMs = 400;
const shortAttempts = 4;
const lockTimeoutMs = 5000;

/** How long a change is retried, in milliseconds. */
const retryForMs = 20_000;

/** Statement timeout, in milliseconds: an index or a changed column over many rows takes long. */
const statementTimeoutMs = 300_000;

interface MadeChange<T> {
  readonly result: T;
  readonly isChanged: boolean;
}

/** Creates the queue for schema changes. */
export function createSchemaChanges({ database, bus, cipher, onChanged }: SchemaChangesDeps): SchemaChanges {
  const attempt = <T>(work: (change: SchemaChange) => Promise<T>, waitMs: number): Promise<MadeChange<T>> =>
    database.transaction(async (query) => {
      let isChanged = true;
      const leaveUnchanged = () => {
        isChanged = false;
      };
      const execute = async (statements: readonly string[]) => {
        for (const text of statements) await query({ text, values: [] });
      };
      await takeLock(query, locks.schema);
      await execute([`set local lock_timeout = ${waitMs}`, `set local statement_timeout = ${statementTimeoutMs}`]);
      const { collections } = await loadCollections(query);
      const settings = await readFollowedSettings(query);
      const hasAnalysts = await dropAnalystViews(query);
      const result = await work({ query, collections, cipher, execute, leaveUnchanged });
      if (isChanged) {
        await followInExpressions(query, { collections, settings });
        await followInFilters(query, collections);
      }
      if (hasAnalysts) await createAnalystViews(query, (await loadCollections(query)).collections);
      if (isChanged) {
        await keepSignInTriggers(query, execute);
        await execute(["update system.versions set version = version + 1 where name = 'schema'"]);
      }
      return { result, isChanged };
    });

  async function retryWhileLocked<T>(work: (change: SchemaChange) => Promise<T>): Promise<MadeChange<T>> {
    const deadlineMs = performance.now() + retryForMs;
    for (let attempts = 0; ; attempts += 1) {
      try {
        return await attempt(work, attempts < shortAttempts ? shortLockTimeoutMs : lockTimeoutMs);
      } catch (error) {
        if (!isDatabaseError(error, lockNotAvailable, sqlState.deadlockDetected)) throw error;
        if (performance.now() > deadlineMs) throw unavailable('the records are in use', error);
        await setTimeout(50 + Math.random() * 200);
      }
    }
  }

  // Changes also queue here: one that waits for the lock in the database holds a connection.
  let last: Promise<unknown> = Promise.resolve();
  return {
    async make(work) {
      const made = last.then(() => retryWhileLocked(work));
      last = made.catch(() => {});
      const { result, isChanged } = await made;
      if (!isChanged) return result;
      // Settings first: sign-up settings follow a collection's new name, and a closed collection must stay closed.
      bus.notify('settings');
      bus.notify('schema');
      // Files have webhooks too.
      bus.notify('webhooks');
      onChanged?.();
      return result;
    },
  };
}

/** SQLSTATE for a lock that was not granted within lock_timeout. */
const lockNotAvailable = '55P03';
