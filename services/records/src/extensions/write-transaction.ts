import type { Query } from '@recordbus/database';
import { AppError } from '@recordbus/shared/errors';

/** The transaction of a write as before hooks share it. */
export interface WriteTransaction {
  readonly query: Query;
  /**
   * Does a part of the work that may fail without the rest, one part after the other: they share a connection. What is
   * done within a part gets a transaction of its own to divide.
   */
  part<T>(work: (transaction: WriteTransaction) => Promise<T>): Promise<T>;
  /** From here on nothing is run: the connection goes on to other work, whatever code was still at. */
  close(): void;
}

/** Divides the transaction of a query. */
export function divideTransaction(inner: Query, name = 'part'): WriteTransaction {
  let isOpen = true;
  let last: Promise<unknown> = Promise.resolve();
  const query: Query = (statement) => {
    if (!isOpen) throw new AppError(500, 'transaction_over', 'the write that this belongs to is over');
    return inner(statement);
  };
  const run = (text: string) => query({ text, values: [] });

  async function runPart<T>(work: (transaction: WriteTransaction) => Promise<T>): Promise<T> {
    await run(`savepoint ${name}`);
    const part = divideTransaction(query, `${name}_`);
    try {
      const result = await work(part);
      await run(`release savepoint ${name}`);
      return result;
    } catch (error) {
      if (isOpen) await run(`rollback to savepoint ${name}`);
      throw error;
    } finally {
      part.close();
    }
  }

  return {
    query,
    part(work) {
      const result = last.then(() => runPart(work));
      last = result.catch(() => {});
      return result;
    },
    close() {
      isOpen = false;
    },
  };
}
