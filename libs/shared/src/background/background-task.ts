import { AsyncLocalStorage } from 'node:async_hooks';
import { createTaskHealth, type TaskHealth, type TaskLines } from './task-health.ts';

/** The result of a run that found no reason to do anything: neither a success nor a failure. */
export const skipped = Symbol('skipped');

/** Milliseconds until the next run, if that is not the interval. */
type RunResult = number | typeof skipped | undefined;

/** Work that runs when it is woken. It never runs twice at once; its errors are logged. */
export interface OnDemandTask {
  /** Runs at once. Wakes during a run cause one more run; wakes during the pause after a failure wait for its end. */
  wake(): void;
  /** Wakes in `soonMs`, once for all callers until then. */
  wakeSoon(): void;
  /** Resolves when no run is under way; never throws. */
  idle(): Promise<void>;
  /** Begins no further run; resolves when the run under way has ended. */
  stop(): Promise<void>;
  readonly health: TaskHealth;
}

/** Work that repeats and can be woken between runs. */
export interface BackgroundTask extends OnDemandTask {
  /** Begins to repeat. A wake before the start makes the first run immediate. */
  start(): void;
}

interface OnDemandOptions extends TaskLines {
  /** One run. The signal aborts when the task stops; a run of many steps should then end after its step. */
  readonly run: (ending: AbortSignal) => Promise<RunResult> | Promise<void>;
  /**
   * Pause after a failed run, in milliseconds; no wake shortens it. `failures` is the number of failures in a row.
   * Without a value the next run follows as after a success. Infinity waits for a wake.
   */
  readonly retryMs?: number | ((failures: number) => number);
  /** Delay of `wakeSoon`, in milliseconds; 5 by default. */
  readonly soonMs?: number;
  /** Whether each `wakeSoon` restarts the delay, for work that waits until nothing has changed for a while. */
  readonly settles?: boolean;
}

interface RepeatingOptions extends OnDemandOptions {
  /** From the end of a run to the next run, in milliseconds, at most 24 days; a function is called after each run. */
  readonly intervalMs: number | (() => number);
  /** From the start to the first run, in milliseconds; 0 by default. */
  readonly firstAfterMs?: number;
}

const never = Number.POSITIVE_INFINITY;
const defaultSoonMs = 5;

/** Creates a background task that repeats from `start` to `stop`. */
export function every(options: RepeatingOptions): BackgroundTask {
  const { run, intervalMs, firstAfterMs = 0, retryMs, soonMs = defaultSoonMs, settles = false } = options;
  const ending = new AbortController();
  const health = createTaskHealth(options);
  // A task belongs to no request: neither its log lines nor its spans are those of a request that woke it.
  const outsideRequests = AsyncLocalStorage.snapshot();
  let timer: NodeJS.Timeout | undefined;
  let soonTimer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let isStarted = false;
  let isWoken = false;
  let isPausing = false;

  const delayOf = (ms: number | ((failures: number) => number)): number =>
    typeof ms === 'number' ? ms : ms(health.current().failures);

  /** Returns the milliseconds until the next run. */
  async function runOnce(): Promise<number> {
    try {
      const result = await run(ending.signal);
      if (result !== skipped) health.succeeded();
      return typeof result === 'number' ? result : delayOf(intervalMs);
    } catch (error) {
      health.failed(error);
      const delayMs = delayOf(retryMs ?? intervalMs);
      isPausing = retryMs !== undefined && delayMs !== never;
      return delayMs;
    }
  }

  async function runAndPlan(): Promise<void> {
    const delayMs = await runOnce();
    running = undefined;
    if (ending.signal.aborted) return;
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

  function wake(): void {
    if (ending.signal.aborted) return;
    isWoken = true;
    if (isStarted && !running && !isPausing) begin();
  }

  return {
    start() {
      if (ending.signal.aborted) return;
      isStarted = true;
      if (isWoken || firstAfterMs <= 0) begin();
      else plan(firstAfterMs);
    },
    wake,
    wakeSoon() {
      if (ending.signal.aborted || (soonTimer && !settles)) return;
      clearTimeout(soonTimer);
      soonTimer = setTimeout(() => {
        soonTimer = undefined;
        wake();
      }, soonMs);
    },
    async idle() {
      while (running) await running;
    },
    async stop() {
      ending.abort();
      clearTimeout(timer);
      clearTimeout(soonTimer);
      await running;
    },
    get health() {
      return health.current();
    },
  };
}

/** Creates a background task that runs only when it is woken, and again after a failure if it has `retryMs`. */
export function whenWoken(options: OnDemandOptions): OnDemandTask {
  const task = every({ ...options, intervalMs: never, firstAfterMs: never });
  task.start();
  return task;
}
