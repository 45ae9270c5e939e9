import type { DataJob } from '../data-jobs/data-job.ts';
import { showDataJob } from '../data-jobs/data-job.ts';

/** A written archive. */
export interface Archive {
  /** Its name in the store. */
  readonly name: string;
  readonly bytes: number;
  readonly records: number;
  readonly files: number;
  /** When it goes, in unix seconds. */
  readonly until: number;
}

/** An export of a person's own data (privacy §4). */
export type OwnDataJob = DataJob<object, object, Archive>;

/** Shows an export's job, with its archive once there is one. */
export function showOwnData(job: OwnDataJob) {
  const { records = 0, bytes = 0, files = 0, until = 0 } = job.result ?? {};
  return {
    ...showDataJob(job, { total: records, bytes, options: {} }),
    archive: job.state === 'done' && job.result ? { bytes, files, until } : null,
  };
}
