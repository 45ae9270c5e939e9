import type { Query } from '@recordbus/database';
import { type Metrics, sampledGauge } from '@recordbus/process/metrics';

interface RowCount {
  readonly name: string;
  readonly help: string;
  /** The table and the rows' condition (SQL). */
  readonly from: string;
}

/** Adds a gauge that counts rows at each scrape, once for all replicas. */
export function countRows(metrics: Metrics, query: Query, { from, ...gauge }: RowCount): void {
  const text = `select count(*)::double precision as count from ${from}`;
  sampledGauge(metrics, {
    ...gauge,
    isShared: true,
    sample: async () => (await query<{ count: number }>({ text, values: [] }))[0]?.count ?? 0,
  });
}
