import { fileURLToPath } from 'node:url';
import { startProcess } from '../child-process.ts';
import type { Job, Outcome } from './job.ts';

export interface Generator {
  run(job: Job): Promise<Outcome>;
  stop(): Promise<void>;
}

/** Starts the process that makes the load. It takes one job at a time. */
export function startGenerator(): Generator {
  const child = startProcess(fileURLToPath(new URL('main.ts', import.meta.url)));
  return {
    run(job) {
      const outcome = child.message<Outcome>();
      child.send(job);
      return outcome;
    },
    stop: () => child.stop(),
  };
}
