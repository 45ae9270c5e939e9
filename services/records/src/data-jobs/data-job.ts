import type { z } from 'zod';
import type { JobError, JobRequest, shownJob } from '../jobs/job.ts';

const dataJobKinds = ['erase', 'export'] as const;

/** Who asked: a caller, or the product itself. */
export interface DataJobActor {
  readonly type: 'admin' | 'service' | 'user' | 'system';
  readonly id: string | null;
}

/** A stored erasure, or a stored export of a person's data. */
export interface DataJob<Options = unknown, Progress = unknown, Result = unknown> {
  readonly id: string;
  readonly kind: (typeof dataJobKinds)[number];
  readonly cause: 'request' | 'account' | 'retain' | 'restore';
  readonly state: 'queued' | 'running' | 'done' | 'failed' | 'cancelled';
  readonly collection_id: string;
  readonly collection_name: string;
  readonly record_id: string | null;
  readonly actor: DataJobActor;
  readonly request: JobRequest;
  readonly options: Options;
  /** How far it is: a step's name, and the position in it. Both are empty at the start. */
  readonly step: string;
  readonly position: string;
  readonly progress: Progress;
  readonly result: Result | null;
  readonly error: JobError | null;
  readonly failures: number;
  readonly fence: number;
  /** Unix seconds. */
  readonly created_at: number;
  readonly started_at: number | null;
  readonly finished_at: number | null;
}

/** Shows a job as answers have it. `rows` counts the records; `rate` and `eta_s` are for imports. */
export function showDataJob(
  job: DataJob,
  { total, bytes, options }: { readonly total: number; readonly bytes: number; readonly options: object },
): z.output<typeof shownJob> {
  return {
    id: job.id,
    kind: job.kind,
    state: job.state,
    collection: job.collection_name,
    owner: job.actor,
    options: { ...options },
    rows: { total, read: total, done: job.state === 'done' ? total : 0, skipped: 0, refused: 0, waiting: 0 },
    bytes,
    rate: null,
    eta_s: null,
    error: job.error,
    created: job.created_at,
    started: job.started_at,
    finished: job.finished_at,
  };
}
