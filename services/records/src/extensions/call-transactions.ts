import { AppError, malformed } from '@recordbus/errors';
import type { AnswerAsk } from '@recordbus/extension-host';
import { z } from 'zod';
import type { RunWrite } from '../write/write-unit.ts';
import type { CallScope } from './call-scope.ts';
import { type OpenTransaction, openTransaction } from './open-transaction.ts';
import type { Toolbox } from './tools/toolbox.ts';

interface TransactionsDeps {
  readonly toolbox: Toolbox;
  readonly write: RunWrite;
}

/** Calls an extension, which may open transactions through `answer`. */
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
      if (opened.size > 0) throw malformed('this call already has a transaction open: transactions do not nest');
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
