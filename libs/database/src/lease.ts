import type { Database } from './database.ts';
import { newId } from './id.ts';

/** Work that one process does for all of them, for as long as it renews its lease in `system.leases`. */
interface Lease {
  /** May this process do the work at this moment? Asked by its own monotonic clock, without the database. */
  readonly held: boolean;
  /** Takes the lease if it is free, or renews it. Tells whether it was taken anew. */
  renew(): Promise<boolean>;
  /** Gives the lease back at once. */
  release(): Promise<void>;
}

interface LeaseOptions {
  readonly name: string;
  readonly lifetimeMs: number;
}

/** The holder stops this much before the database lets somebody else in. */
const marginMs = 500;

/**
 * Makes a lease that nobody holds yet. The database's clock decides when it has run out; the holder counts from before
 * it asked, so it stops earlier than any successor can start, also after it was frozen and thawed.
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
      // Looking first keeps those who wait from writing: the conflict clause locks the row even when it changes nothing.
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
