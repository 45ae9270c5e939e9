import { unavailable } from '@recordbus/errors';
import type { Logger } from '@recordbus/process/logging';
import type { ExtensionWorker } from './extension-worker.ts';

interface SupplyOptions {
  /** The extension's name. */
  readonly name: string;
  readonly maxWorkers: number;
  /** Whether one worker always runs. */
  readonly keepsOne: boolean;
  /** Starts a worker, which loads the extension. */
  readonly startWorker: () => ExtensionWorker;
  readonly log: Logger;
}

/** How many calls may wait for a worker. Further ones are refused at once. */
const maxWaiting = 256;
/** A worker other than one that is kept is ended after this idle time. */
const idleMs = 60_000;
/** While workers end before they begin a call, each restart waits exponentially longer, up to this. */
const maxBackoffMs = 10_000;
/** The same limit for workers that end during a call: a client may cause that, so it must not delay others for long. */
const maxBackoffAfterCallMs = 500;
/** The reason for which an idle worker is ended. */
const notNeeded = 'it is not needed';

type Waiter = (worker: ExtensionWorker) => void;

/** One extension's workers: starts them, lends each to one call at a time, and replaces those that end. */
export class WorkerSupply {
  readonly #options: SupplyOptions;
  readonly #workers = new Set<ExtensionWorker>();
  readonly #idle: ExtensionWorker[] = [];
  readonly #idleTimers = new Map<ExtensionWorker, NodeJS.Timeout>();
  /** Workers that have begun a call. */
  readonly #used = new WeakSet<ExtensionWorker>();
  readonly #waiters = new Set<Waiter>();
  #failures = 0;
  #notBeforeMs = 0;
  #startTimer: NodeJS.Timeout | undefined;
  #isRetired = false;
  #isStopped = false;

  constructor(options: SupplyOptions) {
    this.#options = options;
  }

  /** Starts a worker at once, whatever the backoff. */
  start(): ExtensionWorker {
    const worker = this.#options.startWorker();
    this.#workers.add(worker);
    void worker.loaded.then(
      () => this.release(worker),
      () => {},
    );
    void worker.ended.then((reason) => this.#forget(worker, reason));
    return worker;
  }

  /** Takes a worker, or waits for one. Throws 503 when too many calls wait, or when none is free in time. */
  acquire(timeoutMs: number): Promise<ExtensionWorker> {
    const free = this.#takeIdle();
    if (free) return Promise.resolve(free);
    const busy = `the extension ${this.#options.name} is busy`;
    if (this.#waiters.size >= maxWaiting) throw unavailable(busy);
    return new Promise((resolve, reject) => {
      const enter: Waiter = (worker) => {
        clearTimeout(timer);
        resolve(worker);
      };
      const timer = setTimeout(() => {
        this.#waiters.delete(enter);
        reject(unavailable(busy));
      }, timeoutMs);
      this.#waiters.add(enter);
      this.#fill();
    });
  }

  /** Returns a worker after its call; a worker that has ended is ignored. */
  release(worker: ExtensionWorker): void {
    if (!this.#workers.has(worker)) return;
    const [next] = this.#waiters;
    if (next) {
      this.#waiters.delete(next);
      next(worker);
    } else if (this.#isRetired || this.#isStopped) worker.end(notNeeded);
    else {
      this.#idle.push(worker);
      if (this.#isSpare()) this.#idleTimers.set(worker, setTimeout(() => this.#endIfSpare(worker), idleMs).unref());
    }
  }

  /** Call it when a worker begins a call: from then on a client may cause its end. */
  noteBegun(worker: ExtensionWorker): void {
    this.#used.add(worker);
  }

  /** Resets the backoff. Call it after a call that returned a value. */
  noteSuccess(): void {
    this.#failures = 0;
  }

  /** Ends every worker, even during a call. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#startTimer);
    for (const worker of this.#workers) worker.end('the extension is stopped');
  }

  /** Ends every worker once it has finished. */
  retire(): void {
    this.#isRetired = true;
    for (const worker of this.#idle.splice(0)) worker.end(notNeeded);
  }

  #forget(worker: ExtensionWorker, reason: string): void {
    this.#workers.delete(worker);
    clearTimeout(this.#idleTimers.get(worker));
    const index = this.#idle.indexOf(worker);
    if (index >= 0) this.#idle.splice(index, 1);
    if (this.#isStopped || reason === notNeeded) return;
    this.#failures += 1;
    const maxDelayMs = this.#used.has(worker) ? maxBackoffAfterCallMs : maxBackoffMs;
    const delayMs = this.#failures === 1 ? 0 : Math.min(100 * 2 ** (this.#failures - 2), maxDelayMs);
    this.#notBeforeMs = performance.now() + delayMs;
    const { name, log } = this.#options;
    log.warn({ extension: name, reason, restartInMs: delayMs }, 'an extension worker ended');
    this.#fill();
  }

  /** After the backoff, starts the worker that is kept unless the pool is retired, and one more while calls wait. */
  #fill(): void {
    if (this.#isStopped || this.#workers.size >= this.#options.maxWorkers) return;
    if (this.#waiters.size === 0 && (this.#isRetired || this.#isSpare(this.#workers.size + 1))) return;
    const delayMs = this.#notBeforeMs - performance.now();
    if (delayMs <= 0) {
      this.start();
      return;
    }
    clearTimeout(this.#startTimer);
    this.#startTimer = setTimeout(() => this.#fill(), delayMs);
  }

  /** Takes the worker that became idle last: its caches are the warmest. */
  #takeIdle(): ExtensionWorker | undefined {
    const worker = this.#idle.pop();
    if (worker) clearTimeout(this.#idleTimers.get(worker));
    return worker;
  }

  #endIfSpare(worker: ExtensionWorker): void {
    const index = this.#idle.indexOf(worker);
    if (!this.#isSpare() || index < 0) return;
    this.#idle.splice(index, 1);
    worker.end(notNeeded);
  }

  /** Whether an idle worker is not needed when there are so many. */
  #isSpare(workers = this.#workers.size): boolean {
    return workers > (this.#options.keepsOne ? 1 : 0);
  }
}
