import { every } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';

/** Works on a queue's items. Any number of replicas may run a worker. */
export interface QueueWorker<T> {
  start(): void;
  /** Claims now, such as after an item was added. */
  wake(): void;
  /** Claims in some milliseconds, once for all callers until then. */
  wakeSoon(): void;
  /** The items whose work is in progress. */
  readonly running: readonly T[];
  /** Claims nothing more, and waits for the work in progress. Its signal aborts after `graceMs`. */
  stop(): Promise<void>;
}

interface QueueWorkerOptions<T> {
  /** The background task that claims has this name. */
  readonly name: string;
  readonly log: Logger;
  /** The interval between claims without a wake, in milliseconds. */
  readonly idleMs?: number;
  /** How long an item's end waits for others before the next claim, in milliseconds; 5 by default. */
  readonly soonMs?: number;
  /** The most items in progress at once. */
  readonly maxRunning: number;
  /** The most items that one claim takes; by default, as many as there is room for. */
  readonly maxClaim?: number;
  /**
   * Leases up to `limit` due items. `leftSome`: whether it left items that may be claimed when others have ended. `nextMs`: in
   * how many milliseconds the next item is due, if that is known.
   */
  claim(limit: number): Promise<{
    readonly items: readonly T[];
    readonly leftSome?: boolean;
    readonly nextMs?: number | undefined;
  }>;
  /** Works on an item and records the result. Never rejects. */
  work(item: T, ending: AbortSignal): Promise<void>;
  /** How long `stop` waits before it aborts the work, in milliseconds; 0 by default. */
  readonly graceMs?: number;
}

const defaultIdleMs = 2000;
/** The shortest wait for the next due item, in milliseconds: items that are due one after the other share a claim. */
const minWaitMs = 20;
/** The pause after a failed claim, in milliseconds. */
const failureMs = 1000;

/** Creates a process's worker; it does nothing before `start`. */
export function createQueueWorker<T>(options: QueueWorkerOptions<T>): QueueWorker<T> {
  const { name, log, idleMs = defaultIdleMs, soonMs, maxRunning, maxClaim = maxRunning, graceMs = 0 } = options;
  const running = new Map<T, Promise<void>>();
  const ending = new AbortController();
  const claiming = every({
    name,
    log,
    intervalMs: idleMs,
    retryMs: failureMs,
    ...(soonMs !== undefined && { soonMs }),
    run: claimAndBegin,
  });
  /** Whether the last claim may have left due items. An item's end then claims again. */
  let leftSome = true;

  async function claimAndBegin(): Promise<number | undefined> {
    // This claim still counts items that end while it runs, so their ends must wake the next claim.
    leftSome = true;
    const limit = Math.min(maxClaim, maxRunning - running.size);
    if (limit <= 0) return undefined;
    const claimed = await options.claim(limit);
    const isFull = claimed.items.length === limit;
    leftSome = isFull || claimed.leftSome === true;
    for (const item of claimed.items) running.set(item, work(item));
    if (isFull) return 0;
    const { nextMs } = claimed;
    return nextMs === undefined || nextMs > idleMs ? undefined : Math.max(nextMs, minWaitMs);
  }

  async function work(item: T): Promise<void> {
    await options.work(item, ending.signal);
    running.delete(item);
    if (leftSome) claiming.wakeSoon();
  }

  return {
    start: claiming.start,
    wake: claiming.wake,
    wakeSoon: claiming.wakeSoon,
    get running() {
      return [...running.keys()];
    },
    async stop() {
      const timer = setTimeout(() => ending.abort(), graceMs);
      await claiming.stop();
      await Promise.all(running.values());
      clearTimeout(timer);
    },
  };
}
