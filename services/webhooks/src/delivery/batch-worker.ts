import type { Query } from '@recordbus/database';
import type { ClaimLimits, LeasedDelivery } from './claim.ts';
import { claimBatches, findNextBatchMs } from './claim-batches.ts';

/** Claims batches, and notices when one has waited long enough. */
interface Batches {
  /** Leases due batches' deliveries. */
  claim(limits: ClaimLimits): Promise<readonly LeasedDelivery[]>;
  /** Has `onDue` called when the next batch has waited long enough. Without the database, only the next claim finds it. */
  watch(): void;
  stop(): void;
}

/** Creates this process's part in the batches. `onDue` claims. */
export function createBatches(query: Query, onDue: () => void): Batches {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  return {
    claim: (limits) => claimBatches(query, limits),
    watch() {
      findNextBatchMs(query).then(
        (ms) => {
          clearTimeout(timer);
          if (ms !== null && !isStopped) timer = setTimeout(onDue, ms).unref();
        },
        () => undefined,
      );
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
