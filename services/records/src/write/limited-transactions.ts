import type { Database } from '@recordbus/database';
import { unavailable } from '@recordbus/errors';
import { createFairGate } from '@recordbus/limits/fair-gate';
import { currentCaller } from '@recordbus/request/request-scope';
import { hooksBudgetMs } from './write-hooks.ts';

/**
 * Extensions' code may be slow and holds a connection meanwhile. The other connections are for writes without hooks.
 */
const gateOptions = {
  width: 5,
  widthPerClient: 4,
  reserved: 1,
  maxWaiting: 250,
  maxWaitingPerClient: 125,
  maxWaitMs: hooksBudgetMs,
  refuse: () => unavailable('too many writes are waiting for their hooks'),
};

/** Other limits, for work that takes no places from requests. */
export interface TransactionLimits {
  readonly width: number;
  readonly maxWaitMs: number;
}

/**
 * Creates the transactions for writes with hooks, and for extensions' routes and crons: only a few run at once. Clients
 * take turns. A transaction that has waited for the hooks budget is behind hooks that hang: it throws 503. The budget
 * also limits each statement.
 */
export function limitTransactions(
  { transaction }: Pick<Database, 'transaction'>,
  limits?: TransactionLimits,
): Database['transaction'] {
  const gate = createFairGate(
    limits ? { ...limits, maxWaiting: gateOptions.maxWaiting, refuse: gateOptions.refuse } : gateOptions,
  );
  return (work) =>
    gate.run(currentCaller(), () =>
      transaction(async (query) => {
        await query({ text: `set local statement_timeout = ${hooksBudgetMs}`, values: [] });
        return work(query);
      }),
    );
}
