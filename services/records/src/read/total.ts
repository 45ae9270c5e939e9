import { type Collection, quoteLiteral, tableOf } from '@recordbus/schema';
import { perCollection } from '../sql/prepared.ts';

/** How many records a collection had in a snapshot of the database. */
export interface Total {
  readonly total: number;
  /** `pg_current_snapshot()` as text. */
  readonly snapshot: string;
}

/** A collection is counted afresh this often, in milliseconds, in case someone wrote past the service. */
export const recountMs = 60_000;

/** A snapshot is good for half the time for which the outbox keeps what it published, in milliseconds. */
export const snapshotLifetimeMs = 300_000;

interface KnownTotal {
  latest?: Total;
  takenAtMs: number;
  recountAtMs: number;
}

const knownTotalOf = perCollection((): KnownTotal => ({ takenAtMs: 0, recountAtMs: 0 }));

/**
 * The total from which the next one can be reckoned, or undefined when it has to be counted. When it is only time to
 * count again, one caller is told to, and those beside it go on reckoning.
 */
export function findKnownTotal(collection: Collection, nowMs: number = performance.now()): Total | undefined {
  const known = knownTotalOf(collection);
  if (!known.latest || nowMs - known.takenAtMs > snapshotLifetimeMs) return undefined;
  if (nowMs < known.recountAtMs) return known.latest;
  known.recountAtMs = nowMs + recountMs;
  return undefined;
}

/** Keeps a total for the next one; one that was counted puts off the next count. */
export function keepTotal(
  collection: Collection,
  { total, snapshot }: Total,
  wasCounted: boolean,
  nowMs: number = performance.now(),
): void {
  const known = knownTotalOf(collection);
  known.latest = { total, snapshot };
  known.takenAtMs = nowMs;
  if (wasCounted) known.recountAtMs = nowMs + recountMs;
}

/** A select of the column `total` by counting: exact, and as slow as the collection is large. */
export const countRecords = (collection: Collection): string => `select count(*) as total from ${tableOf(collection)}`;

/**
 * A select of the column `total` by carrying on an earlier one, whose number and snapshot are the given values: what
 * was written since then and is visible now stands in the outbox, in the same transactions as the records themselves,
 * so the sum is exact in the snapshot of the statement that asks.
 */
export const carryOnTotal = (collection: Collection, total: string, snapshot: string): string =>
  `select ${total}::bigint + coalesce(sum(o.records_added), 0) as total
  from system.outbox o
  where o.collection_id = ${quoteLiteral(collection.id)} and o.records_added <> 0
    and o.transaction_id >= pg_snapshot_xmin(${snapshot}::pg_snapshot)
    and not pg_visible_in_snapshot(o.transaction_id, ${snapshot}::pg_snapshot)`;
