import type { Query } from '@recordbus/database';
import { leaseEnd } from './lease-sql.ts';

/** A row under a lease: its key and its fence. */
type Leased<K extends string> = Readonly<Record<K | 'lease_token', string>>;

interface ClaimParts {
  /** A SELECT that locks the rows to take, skips locked ones, and has their keys as `key`. */
  readonly due: string;
  /** How long the lease lasts, in seconds (SQL). */
  readonly leaseSec: string | number;
  /** More assignments to the row `q`. */
  readonly set?: readonly string[];
  /** Columns from `q` and `due`. */
  readonly returning: string;
}

/** A queue's table. Its rows are the work; `lease_until` and the fence say who works on a row. */
export interface QueueTable<K extends string> {
  /** SQL: the UPDATE that leases due rows `q`. Each gets a new fence, so its earlier holder can no longer write. */
  claim(parts: ClaimParts): string;
  /** SQL: whether the row $1 still has the fence $2. */
  readonly isHeld: string;
  /** Extends leases that are still held to `leaseSec` from now, in one statement. */
  renew(query: Query, leases: readonly Leased<K>[], leaseSec: number): Promise<void>;
  /** Ends leases in one statement, so that other replicas can take the rows at once. */
  release(query: Query, leases: readonly Leased<K>[]): Promise<void>;
}

interface QueueTableOptions<K extends string> {
  readonly table: string;
  /** The key's column, a UUID. */
  readonly key: K;
  /** The fence's column: a random token, or a number that each claim raises. */
  readonly fence?: 'lease_token' | 'fence';
}

/** Describes a queue's table. */
export function queueTable<K extends string>(options: QueueTableOptions<K>): QueueTable<K> {
  const { table, key, fence = 'lease_token' } = options;
  const nextFence = fence === 'fence' ? 'q.fence + 1' : 'gen_random_uuid()';
  // A row that another transaction is writing is skipped: its lease may be ending.
  const isStillHeld = `${key} in (
    select q.${key} from unnest($1::uuid[], $2::uuid[]) as lease (key, token)
    join ${table} q on q.${key} = lease.key and q.lease_token = lease.token for update of q skip locked
  )`;
  const valuesOf = (leases: readonly Leased<K>[]) => [
    leases.map((lease) => lease[key]),
    leases.map((lease) => lease.lease_token),
  ];
  return {
    // Materialized: a plan that runs the SELECT more than once would lock more rows each time.
    claim: ({ due, leaseSec, set = [], returning }) => `with due as materialized (${due})
      update ${table} q
      set ${[`${fence} = ${nextFence}`, `lease_until = ${leaseEnd(leaseSec)}`, ...set].join(', ')}
      from due where q.${key} = due.key returning ${returning}`,
    isHeld: `${key} = $1 and ${fence} = $2`,
    async renew(query, leases, leaseSec) {
      await query({
        name: `renew ${table}`,
        text: `update ${table} set lease_until = ${leaseEnd('$3')} where ${isStillHeld}`,
        values: [...valuesOf(leases), leaseSec],
      });
    },
    async release(query, leases) {
      await query({
        text: `update ${table} set lease_until = null, lease_token = null where ${isStillHeld}`,
        values: valuesOf(leases),
      });
    },
  };
}
