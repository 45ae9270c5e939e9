import type { Database } from '@recordbus/database';
import { type BackgroundTask, every, heartbeat } from '@recordbus/shared/background';
import { AppError } from '@recordbus/shared/errors';
import type { Logger } from '@recordbus/shared/logging';
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

/** How often a replica looks for jobs, in milliseconds. */
const pollMs = 2000;

/** Attempts without progress after which a job fails, and the wait before the first of them, in seconds. */
const maxFailures = 10;
const retrySec = 2;

/** How many jobs a replica runs at once. Service keys have one of them together, so admins always find the other. */
const maxRunning = 2;

/** Runs the jobs of a replica, one of each actor at a time (import §7.4). */
export interface JobWorker {
  start(): void;
  wake(): void;
  stop(): Promise<void>;
}

/** Creates the worker of a replica. */
export function createJobWorker({ database: { query }, run, log }: WorkerDeps): JobWorker {
  const stopping = new AbortController();
  const running = new Map<Job, Promise<void>>();
  const task: BackgroundTask = every({ name: 'take jobs', log, intervalMs: pollMs, run: takeNext });

  /** Takes a job and returns at once, since a run of a task should not last hours. */
  async function takeNext(): Promise<void> {
    if (running.size >= maxRunning || stopping.signal.aborted) return;
    const beside = [...running.keys()].map(({ actor }) => actor);
    const job = await takeJob(query, beside);
    if (!job) return;
    const ended = work(job).finally(() => {
      running.delete(job);
      task.wake();
    });
    running.set(job, ended);
    task.wake();
  }

  async function work(job: Job): Promise<void> {
    const lost = new AbortController();
    const ending = AbortSignal.any([stopping.signal, lost.signal]);
    const endBeats = heartbeat(renewMs, async () => {
      if (!(await renewJob(query, job))) lost.abort();
    });
    log.info({ job: job.id, kind: job.kind, fence: job.fence }, 'work on a job begins');
    try {
      const result = await run[job.kind](job, ending);
      if (result === 'done') await endJob(query, job, undefined);
      else if (!lost.signal.aborted) await leaveJob(query, job, { pauseSec: 0, isFailure: false });
      log.info({ job: job.id, result: lost.signal.aborted ? 'lost' : result }, 'work on a job ends');
    } catch (error) {
      await fail(job, error).catch((err) => log.warn({ job: job.id, err }, 'cannot note the failure of a job'));
    } finally {
      endBeats();
    }
  }

  /** A refusal ends the job. Other failures, such as of the database, lead to another attempt. */
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

  return {
    start: task.start,
    wake: task.wake,
    async stop() {
      stopping.abort();
      await task.stop();
      await Promise.all(running.values());
    },
  };
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
