import type { Query } from '@recordbus/database';
import { type Metrics, sampledGauge } from '@recordbus/shared/metrics';

/** Registers the metrics of jobs. Returns a counter of rows by result. */
export function addJobMetrics(metrics: Metrics, query: Query) {
  const sample = (text: string) => async (): Promise<number> => {
    const [row] = await query<{ value: number }>({ text: `select (${text})::double precision as value`, values: [] });
    return row?.value ?? 0;
  };
  sampledGauge(metrics, {
    name: 'recordbus_jobs_queued',
    help: 'Jobs that wait for a replica.',
    sample: sample(`select count(*) from system.jobs where state = 'queued'`),
    isShared: true,
  });
  sampledGauge(metrics, {
    name: 'recordbus_jobs_running',
    help: 'Jobs that are running.',
    sample: sample(`select count(*) from system.jobs where state = 'running'`),
    isShared: true,
  });
  return metrics.counter('recordbus_import_rows_total', 'Rows of imports, by result.', ['result']);
}
