import { AppError, unavailable } from '@recordbus/shared/errors';
import type { Gate } from '@recordbus/shared/gate';
import type { Logger } from '@recordbus/shared/logging';
import { type CallTarget, nameOfTarget } from './description.ts';
import {
  type AnswerAsk,
  type ExtensionWorker,
  type LoadedFile,
  startExtensionWorker,
  WorkerEnded,
} from './extension-worker.ts';
import { toAppError } from './plain-errors.ts';
import type { Outcome } from './protocol.ts';
import type { RunnerProcess } from './runner-process.ts';

export interface PoolCall {
  readonly target: CallTarget;
  readonly input: unknown;
  /** For the whole call, the wait for a worker included. */
  readonly timeoutMs: number;
  readonly answer: AnswerAsk;
  /** The worker that waits for this call, when it is of the same extension: it runs it meanwhile, within its own time. */
  readonly within?: ExtensionWorker | undefined;
}

/** The workers of one extension. Each runs one call at a time, so what a call does to its worker hurts it alone. */
export interface WorkerPool {
  /** Starts the first worker. Rejects with the sentence that says why the extension can't be loaded. */
  load(): Promise<LoadedFile>;
  /**
   * Calls a function of the extension. Throws what it refuses, 500 for what it throws by mistake, 504 when it takes too
   * long, 503 when no worker is free in time.
   */
  call(call: PoolCall): Promise<unknown>;
  /** Ends every worker, in the middle of their calls. */
  stop(): void;
  /** Ends every worker once it has finished. */
  retire(): void;
}

export interface PoolOptions {
  readonly name: string;
  readonly file: string;
  readonly maxWorkers: number;
  readonly memoryMb: number;
  readonly runner: RunnerProcess;
  /** Of all pools of the runner: what workers pass while they start. */
  readonly starts: Gate;
  readonly log: Logger;
}

const loadTimeoutMs = 5000;
/** Calls that may wait for a worker; more are refused at once. */
const maxWaiting = 256;
/** A worker that code which an earlier call left running keeps from beginning a call for so long is ended. */
const beginWithinMs = 3000;
/** A worker beyond the first that nobody needed for so long is ended. */
const idleMs = 60_000;
/** Workers that end one after the other are started anew ever later, up to this. */
const maxBackoffMs = 10_000;

/** It ended before it came to the call: another one can run it. */
class NotBegun extends WorkerEnded {}

type Waiting = (worker: ExtensionWorker) => void;

/** Makes the pool of an extension; nothing runs before `load`. */
export function createWorkerPool({ name, file, maxWorkers, memoryMb, runner, starts, log }: PoolOptions): WorkerPool {
  const workers = new Set<ExtensionWorker>();
  const idle: ExtensionWorker[] = [];
  const idleTimers = new Map<ExtensionWorker, NodeJS.Timeout>();
  const waiting = new Set<Waiting>();
  let failures = 0;
  let notBeforeMs = 0;
  let startTimer: NodeJS.Timeout | undefined;
  let isRetired = false;
  let isStopped = false;

  function start(): ExtensionWorker {
    const worker = startExtensionWorker({ name, file, memoryMb, loadTimeoutMs, runner, starts, log });
    workers.add(worker);
    void worker.loaded.then(
      () => release(worker),
      () => {},
    );
    void worker.ended.then((reason) => forget(worker, reason));
    return worker;
  }

  function forget(worker: ExtensionWorker, reason: string): void {
    workers.delete(worker);
    clearTimeout(idleTimers.get(worker));
    const at = idle.indexOf(worker);
    if (at >= 0) idle.splice(at, 1);
    if (isStopped || reason === spare) return;
    failures += 1;
    const delayMs = failures === 1 ? 0 : Math.min(100 * 2 ** (failures - 2), maxBackoffMs);
    notBeforeMs = performance.now() + delayMs;
    log.warn({ extension: name, reason, restartInMs: delayMs }, 'a worker of an extension ended');
    fill();
  }

  /**
   * Starts the worker that is always there unless the pool is retired, and one more while calls wait; not before the
   * backoff is over.
   */
  function fill(): void {
    if (isStopped || workers.size >= maxWorkers) return;
    if (waiting.size === 0 && (isRetired || workers.size > 0)) return;
    const delayMs = notBeforeMs - performance.now();
    if (delayMs <= 0) {
      start();
      return;
    }
    clearTimeout(startTimer);
    startTimer = setTimeout(fill, delayMs);
  }

  function release(worker: ExtensionWorker): void {
    if (!workers.has(worker)) return;
    const [next] = waiting;
    if (next) {
      waiting.delete(next);
      next(worker);
    } else if (isRetired || isStopped) worker.end(spare);
    else {
      idle.push(worker);
      if (workers.size > 1) idleTimers.set(worker, setTimeout(endSpare, idleMs, worker).unref());
    }
  }

  function endSpare(worker: ExtensionWorker): void {
    if (workers.size > 1 && idle.includes(worker)) worker.end(spare);
  }

  /** The one that worked last is the warmest. */
  function take(): ExtensionWorker | undefined {
    const worker = idle.pop();
    if (worker) clearTimeout(idleTimers.get(worker));
    return worker;
  }

  function acquire(timeoutMs: number): Promise<ExtensionWorker> {
    const free = take();
    if (free) return Promise.resolve(free);
    if (waiting.size >= maxWaiting) throw unavailable(`the extension ${name} has too much to do`);
    return new Promise((resolve, reject) => {
      const enter: Waiting = (worker) => {
        clearTimeout(timer);
        resolve(worker);
      };
      const timer = setTimeout(() => {
        waiting.delete(enter);
        reject(unavailable(`the extension ${name} has too much to do`));
      }, timeoutMs);
      waiting.add(enter);
      fill();
    });
  }

  async function runOn(worker: ExtensionWorker, call: PoolCall, timeoutMs: number): Promise<unknown> {
    let isLate = false;
    let isStuck = false;
    const stuck = setTimeout(() => {
      isStuck = true;
      worker.end('code that an earlier call left running keeps it from the next one');
    }, beginWithinMs);
    const timer = setTimeout(() => {
      isLate = true;
      worker.end(`${nameOfTarget(call.target)} took longer than ${call.timeoutMs} ms`);
    }, timeoutMs);
    try {
      const value = takeValue(await worker.run({ ...call, onBegun: () => clearTimeout(stuck) }), call);
      failures = 0;
      return value;
    } catch (error) {
      if (isLate) throw timedOut(name, call);
      if (isStuck) throw new NotBegun('it did not come to the call');
      throw error;
    } finally {
      clearTimeout(timer);
      clearTimeout(stuck);
    }
  }

  function takeValue(outcome: Outcome, { target }: PoolCall): unknown {
    if ('value' in outcome) return outcome.value;
    const { error } = outcome;
    if (error.status !== undefined) throw toAppError(error);
    log.error({ extension: name, call: nameOfTarget(target), err: error }, 'an extension failed');
    throw failed(name, error);
  }

  async function guarded(call: PoolCall, work: () => Promise<unknown>): Promise<unknown> {
    try {
      return await work();
    } catch (error) {
      const target = nameOfTarget(call.target);
      if (error instanceof WorkerEnded) {
        log.error({ extension: name, call: target, reason: error.message }, 'an extension broke off a call');
        throw failed(name, error);
      }
      if (error instanceof AppError && error.status === 504)
        log.error({ extension: name, call: target, timeoutMs: call.timeoutMs }, 'an extension took too long');
      throw error;
    }
  }

  return {
    load: () => start().loaded,
    call: (call) =>
      guarded(call, async () => {
        if (call.within) return runOn(call.within, call, call.timeoutMs);
        const endsAtMs = performance.now() + call.timeoutMs;
        const leftMs = () => Math.max(1, endsAtMs - performance.now());
        for (;;) {
          const worker = await acquire(leftMs());
          try {
            return await runOn(worker, call, leftMs());
          } catch (error) {
            if (!(error instanceof NotBegun)) throw error;
          } finally {
            release(worker);
          }
        }
      }),
    stop() {
      isStopped = true;
      clearTimeout(startTimer);
      for (const worker of workers) worker.end('the extension is stopped');
    },
    retire() {
      isRetired = true;
      for (const worker of idle.splice(0)) worker.end(spare);
    },
  };
}

/** Why a worker is ended that nobody needs. */
const spare = 'it is not needed';

const failed = (name: string, cause: unknown) =>
  new AppError(500, 'extension_failed', `the extension ${name} failed`, { cause });

const timedOut = (name: string, { timeoutMs }: PoolCall) =>
  new AppError(504, 'extension_timeout', `the extension ${name} took longer than ${timeoutMs} ms`);
