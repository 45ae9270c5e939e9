import { isDatabaseError, mapDatabaseError, type Query, sqlState } from '@recordbus/database';
import { upstreamTimeout } from '@recordbus/errors';
import type { RunWrite, WriteUnit } from '../write/write-unit.ts';
import { divideTransaction, type WriteTransaction } from './write-transaction.ts';

/** A transaction that an extension's code opens and ends. */
export interface OpenTransaction {
  /** Resolves once it has a connection. Throws 503 when too many are waiting for one. */
  readonly begun: Promise<void>;
  /** By `performance.now`. */
  readonly deadlineMs: number;
  /** Runs a part of it. Throws 504 after its deadline. */
  run<T>(work: (transaction: WriteTransaction) => Promise<T>): Promise<T>;
  /** Throws if it was rolled back. */
  commit(): Promise<void>;
  /** Rolls back. Returns whether it lost against another transaction, so a repetition may succeed. */
  rollback(): Promise<boolean>;
}

/** How long a route's or a cron's transaction may take: it locks rows and holds a connection. */
const transactionBudgetMs = 5000;

/** Thrown to roll back a transaction. A database error would run it again. */
const rolledBack = new Error('the transaction is rolled back');

/** An open transaction's state. */
interface Held {
  readonly begun: PromiseWithResolvers<void>;
  readonly ending: PromiseWithResolvers<void>;
  /** Undefined until it has a connection. */
  transaction: WriteTransaction | undefined;
  deadlineMs: number;
  isLost: boolean;
  /** Why it can no longer commit. */
  failure: unknown;
}

/** Opens one of the few transactions that extensions hold at once. `isOver` returns whether its call has ended. */
export function openTransaction(write: RunWrite, isOver: () => boolean): OpenTransaction {
  const held: Held = {
    begun: Promise.withResolvers<void>(),
    ending: Promise.withResolvers<void>(),
    transaction: undefined,
    deadlineMs: 0,
    isLost: false,
    failure: undefined,
  };
  const parts = new Set<Promise<unknown>>();
  held.begun.promise.catch(() => {});
  held.ending.promise.catch(() => {});
  const done = write({ mode: 'hooked' }, async (unit) => {
    // A second attempt cannot repeat the work that the call did on the lost connection.
    if (isOver() || held.transaction) throw rolledBack;
    await holdUntilEnd(held, unit);
  });
  done.catch((error) => held.begun.reject(mapDatabaseError(error) ?? error));

  return {
    begun: held.begun.promise,
    get deadlineMs() {
      return held.deadlineMs;
    },
    run(work) {
      if (held.failure !== undefined) throw held.failure;
      if (!held.transaction) throw new Error('the transaction has no connection yet');
      const part = work(held.transaction)
        .catch((error) => {
          throw held.failure ?? error;
        })
        .finally(() => parts.delete(part));
      parts.add(part);
      return part;
    },
    async commit() {
      while (parts.size > 0) await Promise.allSettled(parts);
      held.ending.resolve();
      await done.catch((error) => {
        throw held.failure ?? mapDatabaseError(error) ?? error;
      });
    },
    async rollback() {
      endWith(held, rolledBack);
      await done.catch(() => {});
      return held.isLost;
    },
  };
}

/** Holds the connection of `unit` until the transaction ends. Throws when it is rolled back, or late. */
async function holdUntilEnd(held: Held, { query, due }: WriteUnit): Promise<void> {
  const transaction = divideTransaction({ query: noteLoss(held, query), due });
  held.transaction = transaction;
  held.deadlineMs = performance.now() + transactionBudgetMs;
  const late = () => endWith(held, upstreamTimeout(`the transaction took longer than ${transactionBudgetMs} ms`));
  const timer = setTimeout(late, transactionBudgetMs);
  held.begun.resolve();
  try {
    await held.ending.promise;
    // After a failed statement a commit would silently roll back. In that case this statement throws.
    await query({ text: 'select', values: [] });
  } finally {
    clearTimeout(timer);
    transaction.close();
  }
}

function endWith(held: Held, reason: unknown): void {
  held.failure ??= reason;
  held.transaction?.close();
  held.ending.reject(reason);
}

/** Notes when a statement shows that the transaction lost against another one. */
const noteLoss =
  (held: Held, query: Query): Query =>
  async (statement) => {
    try {
      return await query(statement);
    } catch (error) {
      held.isLost ||= isDatabaseError(error, sqlState.serializationFailure, sqlState.deadlockDetected);
      throw error;
    }
  };
