import { setTimeout as delay } from 'node:timers/promises';

/** Lets requests take precedence over a job in the same process. */
export interface RequestPrecedence {
  /** Notes that a request has arrived. */
  note(): void;
  /** Waits as long as the job has worked if requests are arriving; otherwise only for an event loop turn. */
  yieldToRequests(workedMs: number): Promise<void>;
}

/** How long after a request more are likely, in milliseconds. */
const recentMs = 500;

/** The longest wait, in milliseconds. Then the job continues anyway. */
const maxWaitMs = 1000;

/** Creates the pauses with which a job shares its process with requests. */
export function createRequestPrecedence(): RequestPrecedence {
  let lastMs = Number.NEGATIVE_INFINITY;
  return {
    note() {
      lastMs = performance.now();
    },
    async yieldToRequests(workedMs) {
      const isRecent = performance.now() - lastMs < recentMs;
      await delay(isRecent ? Math.min(workedMs, maxWaitMs) : 0);
    },
  };
}
