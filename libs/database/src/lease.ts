import type { Database } from './database.ts';
import { newId } from './id.ts';

/** The lease for work that one process does for all, while it renews the lease in `system.leases`. */
interface Lease {
  /** Whether this process holds the lease now, by its monotonic clock, without the database. */
  readonly held: boolean;
  /** Takes the lease if it is free, or renews it. Returns whether it was taken, not renewed. */
  renew(): Promise<boolean>;
  /** Releases the lease. */
  release(): Promise<void>;
}

interface LeaseOptions {
  readonly name: string;
  readonly lifetimeMs: number;
}

/** How long before the lease ends in the database its holder stops, in milliseconds. */
const marginMs = 500;

/**
 * Creates a lease that this process does not hold yet. It expires by the database's clock. The holder measures from before
 * its request, so it stops before any successor starts, even after it was frozen.
 */
export function createLease(database: Database, { name, lifetimeMs }: LeaseOptions): Lease {
  const holder = newId();
  let deadlineMs = Number.NEGATIVE_INFINITY;
  const holds = () => performance.now() < deadlineMs;
  return {
    get held() {
      return holds();
    },
    async renew() {
      const askedAtMs = performance.now();
      const heldBefore = holds();
      // Reading first spares waiting processes the write: the conflict clause locks the row even if it changes nothing.
      const taken = await database.query({
        name: 'lease.renew',
        text: `insert into system.leases as lease (name, holder, expires_at)
          select $1, $2, clock_timestamp() + make_interval(secs => $3)
          where not exists (
            select from system.leases where name = $1 and holder <> $2 and expires_at > clock_timestamp()
          )
          on conflict (name) do update set holder = excluded.holder, expires_at = excluded.expires_at
          where lease.holder = excluded.holder or lease.expires_at <= clock_timestamp()
          returning 1`,
        values: [name, holder, lifetimeMs / 1000],
      });
      deadlineMs = taken.length > 0 ? askedAtMs + lifetimeMs - marginMs : Number.NEGATIVE_INFINITY;
      return holds() && !heldBefore;
    },
    async release() {
      deadlineMs = Number.NEGATIVE_INFINITY;
      await database.query({
        text: 'delete from system.leases where name = $1 and holder = $2',
        values: [name, holder],
      });
    },
  };
}
