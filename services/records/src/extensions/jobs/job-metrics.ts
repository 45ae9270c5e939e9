import type { Query } from '@recordbus/database';
import type { Metrics } from '@recordbus/process/metrics';
import { countRows } from '@recordbus/queue';

export type JobMetrics = ReturnType<typeof addExtensionJobMetrics>;

const table = 'system.extension_jobs';

/** The rows by state. Each SELECT reads one index. */
const gauges = {
  pending: {
    help: "Extensions' jobs that wait.",
    from: `(select 1 from ${table} where state = 'pending' and is_due
      union all select 1 from ${table} where state = 'pending' and not is_due) q`,
  },
  running: { help: "Extensions' jobs that run.", from: `${table} where state = 'running'` },
  dead: { help: "Extensions' jobs that failed for good.", from: `${table} where state = 'dead'` },
};

/** Adds the metrics for extensions' jobs (extensions §8.8). */
export function addExtensionJobMetrics(metrics: Metrics, query: Query) {
  for (const [state, gauge] of Object.entries(gauges))
    countRows(metrics, query, { name: `recordbus_extension_jobs_${state}`, ...gauge });
  return {
    attempts: metrics.counter('recordbus_extension_job_attempts_total', "Attempts at extensions' jobs, by result.", [
      'job',
      'result',
    ]),
    duration: metrics.duration(
      'recordbus_extension_job_duration_seconds',
      "How long attempts at extensions' jobs take.",
      ['job'],
    ),
  };
}
