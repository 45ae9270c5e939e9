import type { Database } from '@recordbus/database';
import { AppError } from '@recordbus/errors';
import type { Logger } from '@recordbus/process/logging';
import { createQueueWorker, LostLease, type QueueWorker, underLease } from '@recordbus/queue';
import type { Job, JobError } from './job.ts';
import { LostJob, renewMs } from './job-store.ts';
import type { JobTable, WorkedJob } from './job-table.ts';

/**
 * Works on a job until it is done, the signal asks it to stop, or it waits for something else. Throws a refusal for a job that
 * cannot continue.
 */
export type RunJob<J = Job> = (job: J, ending: AbortSignal) => Promise<'done' | 'interrupted' | 'waiting'>;

interface WorkerDeps<J extends WorkedJob> {
  /** Connections for background work. */
  readonly database: Pick<Database, 'query'>;
  readonly jobs: JobTable<J>;
  readonly run: Readonly<Record<J['kind'], RunJob<J>>>;
  readonly log: Logger;
  /** How many jobs a replica runs at once; 2 by default. */
  readonly maxRunning?: number;
}

/** Attempts without progress after which a job fails, and the wait before the first one, in seconds. */
const maxFailures = 10;
const retrySec = 2;

/** When a job that waits is looked at again, in seconds. */
const waitSec = 1;

/** How many imports a replica runs at once. All service keys together have one place, so admins always find the other. */
const usualRunning = 2;

/** Creates a replica's worker (import §7.4). */
export function createJobWorker<J extends WorkedJob>({
  database: { query },
  jobs,
  run,
  log,
  maxRunning = usualRunning,
}: WorkerDeps<J>): QueueWorker<J> {
  const worker = createQueueWorker<J>({
    name: 'take jobs',
    log,
    maxRunning,
    maxClaim: 1,
    async claim() {
      const job = await jobs.take(query, worker.running);
      return { items: job ? [job] : [], leftSome: true };
    },
    work,
  });

  async function work(job: J, ending: AbortSignal): Promise<void> {
    log.info({ job: job.id, kind: job.kind, fence: job.fence }, 'work on a job begins');
    try {
      const renew = () => jobs.renew(query, job);
      const result = await underLease({ renewMs, renew, ending }, async (signal) => {
        const reached = await run[job.kind as J['kind']](job, signal);
        const isLost = signal.reason instanceof LostLease;
        if (reached === 'done') await jobs.end(query, job, undefined);
        else if (!isLost)
          await jobs.leave(query, job, { pauseSec: reached === 'waiting' ? waitSec : 0, isFailure: false });
        return isLost ? 'lost' : reached;
      });
      log.info({ job: job.id, result }, 'work on a job ends');
    } catch (error) {
      await fail(job, error).catch((err) => log.warn({ job: job.id, err }, "cannot note a job's failure"));
    }
  }

  /** A refusal ends the job. Other failures, such as the database's, lead to another attempt. */
  async function fail(job: J, error: unknown): Promise<void> {
    if (error instanceof LostJob) return;
    const refusal = error instanceof AppError && error.status < 500 ? error : undefined;
    if (refusal || job.failures + 1 >= maxFailures) {
      await jobs.end(query, job, jobErrorOf(error));
      log.warn({ job: job.id, err: error }, 'a job failed');
      return;
    }
    log.warn({ job: job.id, err: error, failures: job.failures + 1 }, 'a job was interrupted and will continue soon');
    await jobs.leave(query, job, { pauseSec: retrySec * (job.failures + 1), isFailure: true });
  }

  return worker;
}

function jobErrorOf(error: unknown): JobError {
  if (!(error instanceof AppError)) return { message: 'the job failed several times; the log has the reason' };
  const { row, column } = error.details ?? {};
  return {
    message: error.message,
    ...(typeof row === 'number' && { row }),
    ...(typeof column === 'number' && { column }),
  };
}
