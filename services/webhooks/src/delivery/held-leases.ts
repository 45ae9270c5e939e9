import type { Query } from '@recordbus/database';
import { every } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import { type LeasedDelivery, releaseLeases, renewLeases } from './claim.ts';

/** The deliveries that this process has leased. A delivery stays until its outcome is written. */
interface HeldLeases {
  add(claims: readonly LeasedDelivery[]): void;
  remove(leaseToken: string): void;
  /** Starts renewing the leases when attempts take long. */
  start(): void;
  /** Stops renewing, and releases the remaining leases, so that other replicas can take the deliveries. */
  stop(): Promise<void>;
}

/** After this time another replica takes over a dead process's deliveries. Longer attempts renew their leases. */
export const leaseSec = 12;
const renewEveryMs = 3000;

/** Creates this process's leases. */
export function createHeldLeases(query: Query, log: Logger): HeldLeases {
  const held = new Map<string, { readonly claim: LeasedDelivery; readonly sinceMs: number }>();
  const renewing = every({
    name: 'renew the delivery leases',
    log,
    fields: () => ({ leases: held.size }),
    intervalMs: renewEveryMs,
    firstAfterMs: renewEveryMs,
    run: renew,
  });

  async function renew(): Promise<void> {
    const oldMs = performance.now() - renewEveryMs;
    const due = [...held.values()].filter(({ sinceMs }) => sinceMs < oldMs).map(({ claim }) => claim);
    if (due.length > 0) await renewLeases(query, due, leaseSec);
  }

  return {
    add(claims) {
      const sinceMs = performance.now();
      for (const claim of claims) held.set(claim.lease_token, { claim, sinceMs });
    },
    remove: (leaseToken) => held.delete(leaseToken),
    start: renewing.start,
    async stop() {
      await renewing.stop();
      const unfinished = [...held.values()].map(({ claim }) => claim);
      if (unfinished.length > 0) await releaseLeases(query, unfinished);
    },
  };
}
