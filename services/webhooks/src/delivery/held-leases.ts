import type { Query } from '@recordbus/database';
import { every } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import { type LeasedDelivery, releaseLeases, renewLeases } from './claim.ts';
import { type LeasedLane, laneQueue, renewLanes } from './lane-queue.ts';

/** The deliveries that this process has leased. A delivery stays until its outcome is written. */
interface HeldLeases {
  /** `sinceMs` is when their claim began (`performance.now()`). */
  add(claims: readonly LeasedDelivery[], sinceMs: number): void;
  remove(leaseToken: string): void;
  /** Whether no other replica can have the lease yet. A process that was frozen must not send what another one has sent. */
  isSafe(leaseToken: string): boolean;
  /** Starts renewing the leases when attempts take long. */
  start(): void;
  /** Stops renewing, and releases the remaining leases, so that other replicas can take the deliveries. */
  stop(): Promise<void>;
}

/** After this time another replica takes over a dead process's deliveries. Longer attempts renew their leases. */
export const leaseSec = 12;
const renewEveryMs = 3000;
/** A request begins at least this long before its lease ends. */
const marginMs = 2000;

interface Held {
  readonly claim: LeasedDelivery;
  readonly sinceMs: number;
  /** By both clocks: one of them may stand still while the process does. */
  safeUntilMs: { readonly monotonic: number; readonly wall: number };
}

/** Creates this process's leases. */
export function createHeldLeases(query: Query, log: Logger): HeldLeases {
  const held = new Map<string, Held>();
  const renewing = every({
    name: 'renew the delivery leases',
    log,
    fields: () => ({ leases: held.size }),
    intervalMs: renewEveryMs,
    firstAfterMs: renewEveryMs,
    run: renew,
  });

  async function renew(): Promise<void> {
    const nowMs = performance.now();
    const oldMs = nowMs - renewEveryMs;
    const { free, lanes } = part([...held.values()].filter(({ sinceMs }) => sinceMs < oldMs).map(({ claim }) => claim));
    if (free.length > 0) await renewLeases(query, free, leaseSec);
    if (lanes.length === 0) return;
    for (const token of await renewLanes(query, lanes, leaseSec)) {
      const lease = held.get(token);
      if (lease) lease.safeUntilMs = safeUntil(nowMs);
    }
  }

  return {
    add(claims, sinceMs) {
      for (const claim of claims) held.set(claim.lease_token, { claim, sinceMs, safeUntilMs: safeUntil(sinceMs) });
    },
    remove: (leaseToken) => held.delete(leaseToken),
    isSafe(leaseToken) {
      const safe = held.get(leaseToken)?.safeUntilMs;
      return safe !== undefined && performance.now() < safe.monotonic && Date.now() < safe.wall;
    },
    start: renewing.start,
    async stop() {
      await renewing.stop();
      await releaseAll(
        query,
        [...held.values()].map(({ claim }) => claim),
      );
    },
  };
}

const safeUntil = (sinceMs: number): Held['safeUntilMs'] => {
  const forMs = leaseSec * 1000 - marginMs;
  return { monotonic: sinceMs + forMs, wall: Date.now() - (performance.now() - sinceMs) + forMs };
};

/** Splits the leases by queue. */
function part(claims: readonly LeasedDelivery[]): { readonly free: LeasedDelivery[]; readonly lanes: LeasedLane[] } {
  return {
    free: claims.filter(({ lane }) => !lane),
    lanes: claims.flatMap(({ lane, lease_token }) => (lane ? [{ id: lane.id, lease_token }] : [])),
  };
}

/** Ends leases of both queues, so that other replicas can take the deliveries. */
export async function releaseAll(query: Query, claims: readonly LeasedDelivery[]): Promise<void> {
  const { free, lanes } = part(claims);
  if (free.length > 0) await releaseLeases(query, free);
  if (lanes.length > 0) await laneQueue.release(query, lanes);
}
