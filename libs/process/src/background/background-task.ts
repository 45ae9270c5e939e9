import { createDelayedCall } from './delayed-call.ts';
import { createRunLoop, type NextRun, never } from './run-loop.ts';
import { listTask, unlistTask } from './running-tasks.ts';
import { createTaskHealth, type TaskHealth, type TaskHealthKeeper, type TaskLines } from './task-health.ts';

/** What a run returns that found no reason to do anything: neither a success nor a failure. */
export const skipped = Symbol('skipped');

/** Milliseconds until the next run, if that is not the interval. */
type RunResult = number | typeof skipped | undefined;

/** Work that runs when it is woken. It never runs twice at once; its errors are logged. */
export interface OnDemandTask {
  /** Runs at once. Wakes during a run cause one more run; wakes during the pause after a failure wait for its end. */
  wake(): void;
  /** Wakes in `soonMs`, once for all callers until then. */
  wakeSoon(): void;
  /** Resolves when no run is in progress; never throws. */
  idle(): Promise<void>;
  /** Begins no further run; resolves when the current run has ended. */
  stop(): Promise<void>;
  /** The task's name in its log lines. */
  readonly name: string;
  readonly health: TaskHealth;
}

/** Work that repeats and can be woken between runs. */
export interface BackgroundTask extends OnDemandTask {
  /** Begins to repeat. A wake before the start makes the first run immediate. */
  start(): void;
}

interface OnDemandOptions extends TaskLines {
  /** One run. The signal aborts when the task stops; a run with many steps should then end after its step. */
  readonly run: (ending: AbortSignal) => Promise<RunResult> | Promise<void>;
  /**
   * Pause after a failed run, in milliseconds; no wake shortens it. `failures` counts failures in a row. Without a
   * value the next run follows as after a success. Infinity waits for a wake.
   */
  readonly retryMs?: number | ((failures: number) => number);
  /** How long `wakeSoon` waits, in milliseconds; 5 by default. */
  readonly soonMs?: number;
  /** Whether each `wakeSoon` restarts the delay, for work that waits until nothing has changed for a while. */
  readonly isDebounced?: boolean;
}

interface RepeatingOptions extends OnDemandOptions {
  /** From one run's end to the next run, in milliseconds, at most 24 days; a function is called after each run. */
  readonly intervalMs: number | (() => number);
  /** From the start to the first run, in milliseconds; 0 by default. */
  readonly firstAfterMs?: number;
}

const defaultSoonMs = 5;

/** Creates a background task that repeats from `start` to `stop`. */
export function every(options: RepeatingOptions): BackgroundTask {
  const { name, firstAfterMs = 0, soonMs = defaultSoonMs, isDebounced = false } = options;
  const ending = new AbortController();
  const health = createTaskHealth(options);
  const loop = createRunLoop(() => runOnce(options, health, ending.signal));
  const soon = createDelayedCall(loop.wake, { delayMs: soonMs, isDebounced });
  const task: BackgroundTask = {
    name,
    start() {
      if (ending.signal.aborted) return;
      listTask(task);
      loop.start(firstAfterMs);
    },
    wake: loop.wake,
    wakeSoon() {
      if (!ending.signal.aborted) soon.schedule();
    },
    idle: loop.idle,
    async stop() {
      ending.abort();
      soon.cancel();
      unlistTask(task);
      await loop.stop();
    },
    get health() {
      return health.current();
    },
  };
  return task;
}

/** Runs once, notes how it went, and says when the next run begins. */
async function runOnce(
  { run, intervalMs, retryMs }: RepeatingOptions,
  health: TaskHealthKeeper,
  ending: AbortSignal,
): Promise<NextRun> {
  const msOf = (ms: number | ((failures: number) => number)): number =>
    typeof ms === 'number' ? ms : ms(health.current().failures);
  try {
    const result = await run(ending);
    if (result !== skipped) health.succeeded();
    return { delayMs: typeof result === 'number' ? result : msOf(intervalMs), isPause: false };
  } catch (error) {
    health.failed(error);
    const delayMs = msOf(retryMs ?? intervalMs);
    return { delayMs, isPause: retryMs !== undefined && delayMs !== never };
  }
}

/** Creates a background task that runs only when it is woken, and again after a failure if it has `retryMs`. */
export function whenWoken(options: OnDemandOptions): OnDemandTask {
  const task = every({ ...options, intervalMs: never, firstAfterMs: never });
  task.start();
  return task;
}
