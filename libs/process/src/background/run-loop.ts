import { AsyncLocalStorage } from 'node:async_hooks';

/** When the next run begins. */
export interface NextRun {
  /** Milliseconds until then; `never` waits for a wake. */
  readonly delayMs: number;
  /** Whether a wake does not shorten the delay. */
  readonly isPause: boolean;
}

export const never = Number.POSITIVE_INFINITY;

/** One task's runs, never two at once. */
interface RunLoop {
  /** Begins after a delay in milliseconds, or at once when it was woken before. */
  start(firstAfterMs: number): void;
  wake(): void;
  /** Resolves when no run is in progress. */
  idle(): Promise<void>;
  /** Begins no further run; resolves when the current run has ended. */
  stop(): Promise<void>;
}

/** Creates a loop of runs, each of which says when the next one begins and must not throw. */
export function createRunLoop(run: () => Promise<NextRun>): RunLoop {
  // A task belongs to no request. Its log lines and spans must not belong to the request that woke it.
  const outsideRequests = AsyncLocalStorage.snapshot();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let isStarted = false;
  let isWoken = false;
  let isPausing = false;
  let isStopped = false;

  async function runAndPlan(): Promise<void> {
    const { delayMs, isPause } = await run();
    running = undefined;
    isPausing = isPause;
    if (isStopped) return;
    if (delayMs <= 0 || (isWoken && !isPausing)) begin();
    else plan(delayMs);
  }

  function begin(): void {
    clearTimeout(timer);
    isWoken = false;
    isPausing = false;
    running = outsideRequests(runAndPlan);
  }

  function plan(delayMs: number): void {
    if (delayMs !== never) timer = setTimeout(begin, delayMs);
  }

  return {
    start(firstAfterMs) {
      isStarted = true;
      if (isWoken || firstAfterMs <= 0) begin();
      else plan(firstAfterMs);
    },
    wake() {
      if (isStopped) return;
      isWoken = true;
      if (isStarted && !running && !isPausing) begin();
    },
    async idle() {
      while (running) await running;
    },
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
