import type { Database } from '@recordbus/database';
import { unavailable } from '@recordbus/shared/errors';
import { createGate } from '@recordbus/shared/gate';

/** Hooks take their time, and hold a connection for it; the others are for writes without hooks. */
const width = 5;
const maxWaiting = 250;
/** Who waited for as long as hooks may take stands behind hooks that hang. */
const maxWaitMs = 5000;
const refusal = 'too many writes wait for their hooks';

/** Makes the transactions of writes with hooks: only a few at once. They throw 503 when it takes too long. */
export function createHookedTransactions({ transaction }: Pick<Database, 'transaction'>): Database['transaction'] {
  const gate = createGate({ width, maxWaiting, refusal });
  return (work) => {
    const askedAtMs = performance.now();
    return gate.run(async () => {
      if (performance.now() - askedAtMs > maxWaitMs) throw unavailable(refusal);
      return transaction(work);
    });
  };
}
