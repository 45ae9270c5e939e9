import { unavailable } from '@recordbus/shared/errors';
import type { Logger } from '@recordbus/shared/logging';
import type { ExtensionWorker } from './extension-worker.ts';

interface SupplyOptions {
  /** The name of the extension. */
  readonly name: string;
  readonly maxWorkers: number;
  /** Starts a worker, which loads the extension. */
  readonly startWorker: () => ExtensionWorker;
  readonly log: Logger;
}

/** Calls that may wait for a worker; further ones are refused at once. */
const maxWaiting = 256;
/** A worker beyond the first that is idle for this long is ended. */
const idleMs = 60_000;
/** Workers that end before they begin a call, one after another, restart after an exponential delay of at most this. */
const maxBackoffMs = 10_000;
/** A client may shape a call that ends its worker, so it delays the calls of others by at most this. */
const maxBackoffAfterCallMs = 500;
/** The reason for which an idle worker is ended. */
const notNeeded = 'it is not needed';

type Waiter = (worker: ExtensionWorker) => void;

/** The workers of one extension: starts them, lends each to one call at a time, and replaces those that end. */
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
    const busy = `the extension ${this.#options.name} has too much to do`;
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

  /** Gives a worker back after its call; one that has ended is ignored. */
  release(worker: ExtensionWorker): void {
    if (!this.#workers.has(worker)) return;
    const [next] = this.#waiters;
    if (next) {
      this.#waiters.delete(next);
      next(worker);
    } else if (this.#isRetired || this.#isStopped) worker.end(notNeeded);
    else {
      this.#idle.push(worker);
      if (this.#workers.size > 1)
        this.#idleTimers.set(worker, setTimeout(() => this.#endIfSpare(worker), idleMs).unref());
    }
  }

  /** To be called when a worker begins a call: if it ends then, a client may be the cause. */
  noteBegun(worker: ExtensionWorker): void {
    this.#used.add(worker);
  }

  /** To be called after a call that returned a value: resets the backoff. */
  noteSuccess(): void {
    this.#failures = 0;
  }

  /** Ends every worker, in the middle of their calls. */
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
    log.warn({ extension: name, reason, restartInMs: delayMs }, 'a worker of an extension ended');
    this.#fill();
  }

  /** Starts the one permanent worker, unless the pool is retired, and one more while calls wait; after the backoff. */
  #fill(): void {
    if (this.#isStopped || this.#workers.size >= this.#options.maxWorkers) return;
    if (this.#waiters.size === 0 && (this.#isRetired || this.#workers.size > 0)) return;
    const delayMs = this.#notBeforeMs - performance.now();
    if (delayMs <= 0) {
      this.start();
      return;
    }
    clearTimeout(this.#startTimer);
    this.#startTimer = setTimeout(() => this.#fill(), delayMs);
  }

  /** Takes the worker that was idle for the shortest time, whose caches are the warmest. */
  #takeIdle(): ExtensionWorker | undefined {
    const worker = this.#idle.pop();
    if (worker) clearTimeout(this.#idleTimers.get(worker));
    return worker;
  }

  #endIfSpare(worker: ExtensionWorker): void {
    if (this.#workers.size > 1 && this.#idle.includes(worker)) worker.end(notNeeded);
  }
}
