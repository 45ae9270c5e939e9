import type { HandlerTools } from '@recordbus/extensions';
import type { WriteLog } from './log-writer.ts';
import { type Ask, createTools } from './tools.ts';

type Transaction = HandlerTools['transaction'];

/** How often a transaction is tried that fails because of a concurrent one. */
const attempts = 3;

const nested: Transaction = async () => {
  throw new Error('this call already has a transaction open: transactions do not nest');
};

/** The function `transaction` for hooks: a before hook runs in its write's transaction. */
export const noTransaction: Transaction = async () => {
  throw new Error('only route, cron and job handlers can open a transaction');
};

/** Creates one call's function `transaction`; its tools pass the transaction's number to the host. */
export function createTransaction(ask: Ask, log: WriteLog): Transaction {
  let isOpen = false;
  return async (work) => {
    if (isOpen) return nested(work);
    isOpen = true;
    try {
      for (let left = attempts; ; left -= 1) {
        const number = await ask('transaction.begin', []);
        const tools = createTools((method, args) => ask('transaction.ask', [number, method, args]), log);
        try {
          const value = await work(Object.assign(tools, { transaction: nested }));
          await ask('transaction.commit', [number]);
          return value;
        } catch (error) {
          const isLost = await ask('transaction.rollback', [number]).catch(() => false);
          if (isLost !== true || left === 1) throw error;
        }
      }
    } finally {
      isOpen = false;
    }
  };
}
