import type { Query } from '@recordbus/database';
import type { JobError } from './job.ts';

/** What the worker needs of a job. */
export interface WorkedJob {
  readonly id: string;
  readonly kind: string;
  readonly actor: { readonly type: string; readonly id: string | null };
  readonly failures: number;
  readonly fence: number;
}

type Held = Pick<WorkedJob, 'id' | 'fence'>;

/** The table that the jobs are in. */
export interface JobTable<J extends WorkedJob> {
  /** Takes the next job beside the running ones. */
  take(query: Query, running: readonly J[]): Promise<J | undefined>;
  /** Renews the lease. Returns whether this replica still holds the job. */
  renew(query: Query, job: Held): Promise<boolean>;
  end(query: Query, job: Held, error: JobError | undefined): Promise<void>;
  /** Returns a job to the queue. */
  leave(query: Query, job: Held, how: { readonly pauseSec: number; readonly isFailure: boolean }): Promise<void>;
}
