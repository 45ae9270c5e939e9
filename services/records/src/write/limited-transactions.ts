import type { Database } from '@recordbus/database';
import { unavailable } from '@recordbus/shared/errors';
import { createGate } from '@recordbus/shared/gate';
import { hooksBudgetMs } from './hooks-budget.ts';

/** Code of extensions may be slow and holds a connection meanwhile. The other connections are for writes without hooks. */
const width = 5;
const maxWaiting = 250;
const refusal = 'too many writes are waiting for their hooks';

/**
 * Creates the transactions of writes with hooks, and of routes and crons of extensions: only a few run at once. A
 * transaction that has waited for the hooks budget is behind hooks that hang: it throws 503. The budget also limits each
 * statement.
 */
export function limitTransactions({ transaction }: Pick<Database, 'transaction'>): Database['transaction'] {
  const gate = createGate({ width, maxWaiting, refusal });
  return (work) => {
    const requestedAtMs = performance.now();
    return gate.run(async () => {
      if (performance.now() - requestedAtMs > hooksBudgetMs) throw unavailable(refusal);
      return transaction(async (query) => {
        await query({ text: `set local statement_timeout = ${hooksBudgetMs}`, values: [] });
        return work(query);
      });
    });
  };
}
