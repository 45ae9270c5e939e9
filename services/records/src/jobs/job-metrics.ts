import type { Query } from '@recordbus/database';
import type { Metrics } from '@recordbus/process/metrics';
import { countRows } from '@recordbus/queue';

/** Registers the job metrics. Returns a counter for rows by result. */
export function addJobMetrics(metrics: Metrics, query: Query) {
  const count = (name: string, help: string, state: string) =>
    countRows(metrics, query, { name, help, from: `system.jobs where state = '${state}'` });
  count('recordbus_jobs_queued', 'Jobs that wait for a replica.', 'queued');
  count('recordbus_jobs_running', 'Jobs that are running.', 'running');
  return metrics.counter('recordbus_import_rows_total', 'Import rows, by result.', ['result']);
}
