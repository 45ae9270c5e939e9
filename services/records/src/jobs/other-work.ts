import { setTimeout as delay } from 'node:timers/promises';

/** Lets requests go before a job of the same process. */
export interface OtherWork {
  /** Notes that a request came. */
  note(): void;
  /** Waits as long as the job has worked, while requests come; otherwise only for a turn of the event loop. */
  breathe(workedMs: number): Promise<void>;
}

/** How long after a request others are likely, in milliseconds. */
const recentMs = 500;

/** The longest wait, in milliseconds: the job goes on all the same. */
const maxWaitMs = 1000;

/** Creates what makes a job share its process with requests. */
export function createOtherWork(): OtherWork {
  let lastMs = Number.NEGATIVE_INFINITY;
  return {
    note() {
      lastMs = performance.now();
    },
    async breathe(workedMs) {
      const isRecent = performance.now() - lastMs < recentMs;
      await delay(isRecent ? Math.min(workedMs, maxWaitMs) : 0);
    },
  };
}
