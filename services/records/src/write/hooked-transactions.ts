import type { Database } from '@recordbus/database';
import { unavailable } from '@recordbus/shared/errors';
import { createGate } from '@recordbus/shared/gate';
import { hooksBudgetMs } from './write-hooks.ts';

/** Where records are written: in one statement, or in a transaction, which for writes with hooks is one of few. */
export interface WritableDatabase extends Pick<Database, 'query' | 'transaction'> {
  readonly hookedTransaction: Database['transaction'];
}

/** Hooks take their time, and hold a connection for it; the others are for writes without hooks. */
const width = 5;
const maxWaiting = 250;
const refusal = 'too many writes wait for their hooks';

/**
 * Makes the transactions of writes with hooks: only a few at once. Who waits for as long as hooks may take stands behind
 * hooks that hang: 503. No statement takes longer than that either.
 */
export function createHookedTransactions({ transaction }: Pick<Database, 'transaction'>): Database['transaction'] {
  const gate = createGate({ width, maxWaiting, refusal });
  return (work) => {
    const askedAtMs = performance.now();
    return gate.run(async () => {
      if (performance.now() - askedAtMs > hooksBudgetMs) throw unavailable(refusal);
      return transaction(async (query) => {
        await query({ text: `set local statement_timeout = ${hooksBudgetMs}`, values: [] });
        return work(query);
      });
    });
  };
}
