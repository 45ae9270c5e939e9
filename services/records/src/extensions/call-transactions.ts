import { isDatabaseError, mapDatabaseError, type Query, sqlState } from '@recordbus/database';
import type { AnswerAsk } from '@recordbus/extension-host';
import { AppError, malformed, upstreamTimeout } from '@recordbus/shared/errors';
import { z } from 'zod';
import type { RunWrite } from '../write/write-unit.ts';
import type { CallScope } from './call-scope.ts';
import type { Toolbox } from './tools/toolbox.ts';
import { divideTransaction, type WriteTransaction } from './write-transaction.ts';

/** How long a transaction of a route or a cron may take: it locks rows and holds a connection. */
const transactionBudgetMs = 5000;

interface TransactionsDeps {
  readonly toolbox: Toolbox;
  readonly write: RunWrite;
}

/** Runs a call of an extension, which may open transactions through `answer`. */
export type WithTransactions = <T>(
  extension: string,
  scope: CallScope,
  work: (answer: AnswerAsk) => Promise<T>,
) => Promise<T>;

/** Creates the function that runs calls with transactions: one open at a time, rolled back when its call ends. */
export const createWithTransactions =
  (deps: TransactionsDeps): WithTransactions =>
  async (extension, scope, work) => {
    const opened = new Map<number, OpenTransaction>();
    let isOver = false;
    let lastNumber = 0;

    async function begin(): Promise<number> {
      if (opened.size > 0) throw malformed('a transaction of this call is open: transactions do not nest');
      lastNumber += 1;
      const number = lastNumber;
      const transaction = openTransaction(deps.write, () => isOver);
      opened.set(number, transaction);
      try {
        await transaction.begun;
      } catch (error) {
        opened.delete(number);
        throw error;
      }
      return number;
    }

    function take(number: number): OpenTransaction {
      const transaction = opened.get(number);
      if (!transaction) throw new AppError(500, 'transaction_over', 'the transaction is over');
      return transaction;
    }

    const answer: AnswerAsk = async (method, args, worker) => {
      switch (method) {
        case 'transaction.begin':
          return begin();
        case 'transaction.ask': {
          const [number, inner, innerArgs] = askArguments.parse(args);
          const { run, deadlineMs } = take(number);
          return run((transaction) => {
            const within = { ...scope, transaction, deadlineMs: Math.min(scope.deadlineMs, deadlineMs) };
            return deps.toolbox(extension, within)(inner, innerArgs, worker);
          });
        }
        case 'transaction.commit':
        case 'transaction.rollback': {
          const [number] = endArguments.parse(args);
          const transaction = take(number);
          try {
            return await (method === 'transaction.commit' ? transaction.commit() : transaction.rollback());
          } finally {
            opened.delete(number);
          }
        }
        default:
          return deps.toolbox(extension, scope)(method, args, worker);
      }
    };

    try {
      return await work(answer);
    } finally {
      isOver = true;
      for (const transaction of opened.values()) void transaction.rollback();
    }
  };

const askArguments = z.tuple([z.number(), z.string(), z.array(z.unknown())]);
const endArguments = z.tuple([z.number()]);

interface OpenTransaction {
  /** Resolves once it has a connection. Throws 503 when too many are waiting for one. */
  readonly begun: Promise<void>;
  /** By `performance.now`. */
  readonly deadlineMs: number;
  /** Runs a part of it. Throws 504 after its deadline. */
  run<T>(work: (transaction: WriteTransaction) => Promise<T>): Promise<T>;
  /** Throws when it was rolled back. */
  commit(): Promise<void>;
  /** Rolls back. Returns whether it lost against another transaction, so a repetition may succeed. */
  rollback(): Promise<boolean>;
}

/** Thrown to roll back a transaction. An error of the database would run it again. */
const rolledBack = new Error('the transaction is rolled back');

/** Opens one of the few transactions that extensions hold at once. `isOver` is whether its call has ended. */
function openTransaction(write: RunWrite, isOver: () => boolean): OpenTransaction {
  const begun = Promise.withResolvers<void>();
  const ending = Promise.withResolvers<void>();
  const parts = new Set<Promise<unknown>>();
  let transaction: WriteTransaction | undefined;
  let deadlineMs = 0;
  let isLost = false;
  let failure: unknown;
  ending.promise.catch(() => {});

  const end = (reason: unknown) => {
    failure ??= reason;
    transaction?.close();
    ending.reject(reason);
  };
  const watch =
    (query: Query): Query =>
    async (statement) => {
      try {
        return await query(statement);
      } catch (error) {
        isLost ||= isDatabaseError(error, sqlState.serializationFailure, sqlState.deadlockDetected);
        throw error;
      }
    };

  const done = write({ mode: 'hooked' }, async ({ query, due }) => {
    // A second attempt cannot repeat what the call did on the lost connection.
    if (isOver() || transaction) throw rolledBack;
    transaction = divideTransaction({ query: watch(query), due });
    deadlineMs = performance.now() + transactionBudgetMs;
    const late = () => end(upstreamTimeout(`the transaction took longer than ${transactionBudgetMs} ms`));
    const timer = setTimeout(late, transactionBudgetMs);
    begun.resolve();
    try {
      await ending.promise;
      // A commit after a failed statement would silently be a rollback. This statement throws then.
      await query({ text: 'select', values: [] });
    } finally {
      clearTimeout(timer);
      transaction.close();
    }
  });
  done.catch((error) => begun.reject(mapDatabaseError(error) ?? error));
  begun.promise.catch(() => {});

  return {
    begun: begun.promise,
    get deadlineMs() {
      return deadlineMs;
    },
    run(work) {
      if (failure !== undefined) throw failure;
      if (!transaction) throw new Error('the transaction has no connection yet');
      const part = work(transaction)
        .catch((error) => {
          throw failure ?? error;
        })
        .finally(() => parts.delete(part));
      parts.add(part);
      return part;
    },
    async commit() {
      while (parts.size > 0) await Promise.allSettled(parts);
      ending.resolve();
      await done.catch((error) => {
        throw failure ?? mapDatabaseError(error) ?? error;
      });
    },
    async rollback() {
      end(rolledBack);
      await done.catch(() => {});
      return isLost;
    },
  };
}
