import type { Database } from '@recordbus/database';
import { AppError } from '@recordbus/errors';
import type { Logger } from '@recordbus/process/logging';
import { createQueueWorker, LostLease, type QueueWorker, underLease } from '@recordbus/queue';
import type { Job, JobError } from './job.ts';
import { endJob, LostJob, leaveJob, renewJob, renewMs, takeJob } from './job-store.ts';

/** Works on a job until it is done, or the signal asks it to stop. Throws a refusal for a job that cannot continue. */
export type RunJob = (job: Job, ending: AbortSignal) => Promise<'done' | 'interrupted'>;

interface WorkerDeps {
  /** Connections for background work. */
  readonly database: Pick<Database, 'query'>;
  readonly run: Readonly<Record<Job['kind'], RunJob>>;
  readonly log: Logger;
}

/** Attempts without progress after which a job fails, and the wait before the first one, in seconds. */
const maxFailures = 10;
const retrySec = 2;

/** How many jobs a replica runs at once. All service keys together have one place, so admins always find the other. */
const maxRunning = 2;

/** Creates a replica's worker, which runs one job for each actor at a time (import §7.4). */
export function createJobWorker({ database: { query }, run, log }: WorkerDeps): QueueWorker<Job> {
  const worker = createQueueWorker<Job>({
    name: 'take jobs',
    log,
    maxRunning,
    maxClaim: 1,
    async claim() {
      const job = await takeJob(
        query,
        worker.running.map(({ actor }) => actor),
      );
      return { items: job ? [job] : [], leftSome: true };
    },
    work,
  });

  async function work(job: Job, ending: AbortSignal): Promise<void> {
    log.info({ job: job.id, kind: job.kind, fence: job.fence }, 'work on a job begins');
    try {
      const renew = () => renewJob(query, job);
      const result = await underLease({ renewMs, renew, ending }, async (signal) => {
        const reached = await run[job.kind](job, signal);
        const isLost = signal.reason instanceof LostLease;
        if (reached === 'done') await endJob(query, job, undefined);
        else if (!isLost) await leaveJob(query, job, { pauseSec: 0, isFailure: false });
        return isLost ? 'lost' : reached;
      });
      log.info({ job: job.id, result }, 'work on a job ends');
    } catch (error) {
      await fail(job, error).catch((err) => log.warn({ job: job.id, err }, "cannot note a job's failure"));
    }
  }

  /** A refusal ends the job. Other failures, such as the database's, lead to another attempt. */
  async function fail(job: Job, error: unknown): Promise<void> {
    if (error instanceof LostJob) return;
    const refusal = error instanceof AppError && error.status < 500 ? error : undefined;
    if (refusal || job.failures + 1 >= maxFailures) {
      await endJob(query, job, jobErrorOf(error));
      log.warn({ job: job.id, err: error }, 'a job failed');
      return;
    }
    log.warn({ job: job.id, err: error, failures: job.failures + 1 }, 'a job was interrupted and will continue soon');
    await leaveJob(query, job, { pauseSec: retrySec * (job.failures + 1), isFailure: true });
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
