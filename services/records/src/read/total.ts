import type { Excluded } from '@recordbus/query';
import { type Collection, perCollection, quoteLiteral, tableOf } from '@recordbus/schema';

/** How many records a collection has in one database snapshot. */
export interface Total {
  readonly total: number;
  /** `pg_current_snapshot()` as text. */
  readonly snapshot: string;
}

/** How often a collection is counted again, in milliseconds, in case something wrote to its table directly. */
export const recountMs = 60_000;

/** How long a snapshot can be used, in milliseconds: half the time that the outbox keeps published events. */
export const snapshotLifetimeMs = 300_000;

interface KnownTotal {
  latest?: Total;
  /** How many failovers came before. */
  failovers: number;
  takenAtMs: number;
  recountAtMs: number;
}

const knownTotalOf = perCollection((): KnownTotal => ({ failovers: 0, takenAtMs: 0, recountAtMs: 0 }));

let failovers = 0;

/** Forgets all totals, because after a failover new transactions reuse lost ones' ids. */
export function forgetTotals(): void {
  failovers += 1;
}

/**
 * Returns the total from which the next one can be computed, or undefined when the records have to be counted. When a
 * new count is due, one caller gets undefined, and the others still get the known total.
 */
export function findKnownTotal(collection: Collection, nowMs: number = performance.now()): Total | undefined {
  const known = knownTotalOf(collection);
  if (!known.latest || known.failovers !== failovers || nowMs - known.takenAtMs > snapshotLifetimeMs) return undefined;
  if (nowMs < known.recountAtMs) return known.latest;
  known.recountAtMs = nowMs + recountMs;
  return undefined;
}

/** Keeps a total for the next list. A counted total postpones the next count. */
export function keepTotal(
  collection: Collection,
  { total, snapshot }: Total,
  wasCounted: boolean,
  nowMs: number = performance.now(),
): void {
  const known = knownTotalOf(collection);
  known.latest = { total, snapshot };
  known.failovers = failovers;
  known.takenAtMs = nowMs;
  if (wasCounted) known.recountAtMs = nowMs + recountMs;
}

/** A select of `total` that counts the records: exact, and slow for a large collection. */
export const countedTotal = (collection: Collection): string => `select count(*) as total from ${tableOf(collection)}`;

/**
 * A select of `total` that adds to a snapshot's earlier total (SQL: bigint and pg_snapshot). The outbox has the writes
 * since that snapshot that are now visible. Its rows and the records commit together, so the sum is exact in this
 * statement's snapshot.
 */
export const incrementalTotal = (collection: Collection, total: string, snapshot: string): string =>
  `select ${total} + coalesce(sum(o.records_added), 0) as total
  from system.outbox o
  where o.collection_id = ${quoteLiteral(collection.id)} and o.records_added <> 0
    and o.transaction_id >= pg_snapshot_xmin(${snapshot})
    and not pg_visible_in_snapshot(o.transaction_id, ${snapshot})`;

/**
 * A select of `total`, the records that are not excluded, and of `whole`, all records. Both are exact in this
 * statement's snapshot if the given select for all records is. That one misses direct writes to the table until the
 * next count, so the result is kept from falling below 0.
 */
export const remainingTotal = (collection: Collection, whole: string, { condition, gate }: Excluded): string =>
  `select case when ${gate} then greatest(w.total - (${countedTotal(collection)} t where ${condition}), 0) else 0 end as total,
  w.total as whole from (${whole}) w`;
