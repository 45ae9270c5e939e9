import type { Bus } from '@recordbus/bus';
import type { Database } from '@recordbus/database';
import type { ExtensionHost, LoadedExtension } from '@recordbus/extension-host';
import { createQueueWorker, type QueueWorker } from '@recordbus/queue';
import { type ClaimedJob, claimJobs } from './claim-jobs.ts';
import { type RunJobDeps, runJob } from './run-job.ts';

/** Runs the loaded extensions' jobs. Every replica has these. */
export interface JobRunners {
  /** Follows the currently loaded extensions' jobs. Call it at the start and after extensions change. */
  renew(): void;
  /** Claims nothing more. Running jobs have some seconds to end; then others take them at once. */
  stop(): Promise<void>;
}

interface RunnersDeps extends RunJobDeps {
  readonly host: Pick<ExtensionHost, 'extensions' | 'callJob'>;
  readonly database: Pick<Database, 'query' | 'transaction'>;
  readonly bus: Pick<Bus, 'onNotice'>;
  /** How many jobs of one extension run at once on this replica. */
  readonly maxRunning: number;
}

/** The notice that there are new jobs. */
export const jobsNotice = 'extension-jobs';

/** How often a worker that is free looks for jobs, in milliseconds. It knows when the next one is due. */
const idleMs = 1000;
/** How long running jobs may go on when the service stops. */
const graceMs = 3000;

/** Creates the runners. They do nothing before `renew`, and nothing for extensions without jobs. */
export function createJobRunners(deps: RunnersDeps): JobRunners {
  const { host, database, bus, maxRunning, log } = deps;
  const workers = new Map<LoadedExtension, QueueWorker<ClaimedJob>>();
  const stopping = new Set<Promise<void>>();
  let endNotices: (() => void) | undefined;

  function createWorker({ name: extension, description: { jobs } }: LoadedExtension): QueueWorker<ClaimedJob> {
    const byName = new Map(jobs.map((job) => [job.name, job]));
    return createQueueWorker<ClaimedJob>({
      name: `take the jobs of ${extension}`,
      log,
      idleMs,
      // Small jobs end within a few milliseconds, and a worker waits for the next one.
      soonMs: 0,
      maxRunning,
      graceMs,
      // A job's end may let others begin: those with its key, and those beyond its concurrency.
      claim: async (limit) => ({ ...(await claimJobs(database, { extension, jobs, limit })), leftSome: true }),
      async work(job, ending) {
        const declared = byName.get(job.name);
        if (declared) await runJob(deps, extension, declared, job, ending);
      },
    });
  }

  function end(extension: LoadedExtension, worker: QueueWorker<ClaimedJob>): void {
    workers.delete(extension);
    const stopped: Promise<void> = worker.stop().finally(() => stopping.delete(stopped));
    stopping.add(stopped);
  }

  function followOnly(loaded: readonly LoadedExtension[]): void {
    for (const [extension, worker] of workers) if (!loaded.includes(extension)) end(extension, worker);
    for (const extension of loaded) {
      if (workers.has(extension) || extension.description.jobs.length === 0) continue;
      const worker = createWorker(extension);
      workers.set(extension, worker);
      worker.start();
    }
    if (workers.size === 0) return;
    endNotices ??= bus.onNotice(jobsNotice, () => {
      for (const worker of workers.values()) worker.wakeSoon();
    });
  }

  return {
    renew: () => {
      if (maxRunning > 0) followOnly(host.extensions);
    },
    async stop() {
      endNotices?.();
      followOnly([]);
      await Promise.all(stopping);
    },
  };
}
