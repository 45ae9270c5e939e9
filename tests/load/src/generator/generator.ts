import { fileURLToPath } from 'node:url';
import { startProcess } from '../child-process.ts';
import type { Job, JobResult } from './job.ts';

export interface Generator {
  run(job: Job): Promise<JobResult>;
  stop(): Promise<void>;
}

/** Starts the process that generates the load. It runs one job at a time. */
export function startGenerator(): Generator {
  const child = startProcess(fileURLToPath(new URL('main.ts', import.meta.url)));
  return {
    run(job) {
      const outcome = child.message<JobResult>();
      child.send(job);
      return outcome;
    },
    stop: () => child.stop(),
  };
}
