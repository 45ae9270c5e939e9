import type { Query } from '@recordbus/database';
import { AppError } from '@recordbus/errors';
import type { DueWork } from '../write/after-commit.ts';
import type { WriteUnit } from '../write/write-unit.ts';

/** A write's unit, as its before hooks share it. */
export interface WriteTransaction extends WriteUnit {
  /**
   * Runs a part of the work that may fail without the rest. Parts run one after the other on the shared connection, and
   * each can be divided again.
   */
  part<T>(work: (transaction: WriteTransaction) => Promise<T>): Promise<T>;
  /** Refuses further statements: the connection returns to the pool, even if an extension's code still runs. */
  close(): void;
}

/** Returns a unit's transaction, which can be divided into parts. */
export function divideTransaction({ query: inner, due }: WriteUnit, name = 'part'): WriteTransaction {
  let isOpen = true;
  let last: Promise<unknown> = Promise.resolve();
  const query: Query = (statement) => {
    if (!isOpen) throw new AppError(500, 'transaction_over', "this call's write is over");
    return inner(statement);
  };
  const run = (text: string) => query({ text, values: [] });

  async function runPart<T>(work: (transaction: WriteTransaction) => Promise<T>): Promise<T> {
    await run(`savepoint ${name}`);
    const dueOfPart: DueWork = new Set();
    const part = divideTransaction({ query, due: dueOfPart }, `${name}_`);
    try {
      const result = await work(part);
      await run(`release savepoint ${name}`);
      for (const work of dueOfPart) due.add(work);
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
    due,
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
