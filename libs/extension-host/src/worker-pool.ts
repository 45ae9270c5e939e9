import { AppError } from '@recordbus/errors';
import type { Gate } from '@recordbus/limits/gate';
import type { Logger } from '@recordbus/process/logging';
import { type CallTarget, nameOfTarget } from './description.ts';
import {
  type AnswerAsk,
  type ExtensionWorker,
  type LoadedFile,
  startExtensionWorker,
  WorkerEnded,
} from './extension-worker.ts';
import { toAppError } from './plain-errors.ts';
import type { CallOutcome } from './protocol.ts';
import type { RunnerProcess } from './runner-process.ts';
import { WorkerSupply } from './worker-supply.ts';

export interface PoolCall {
  readonly target: CallTarget;
  readonly input: unknown;
  /** For the whole call, including the wait for a worker unless that has `waitMs`. */
  readonly timeoutMs: number;
  /** How long it waits for a worker. */
  readonly waitMs?: number;
  readonly answer: AnswerAsk;
  /** The same extension's worker that waits for this call: it runs the call meanwhile, within its own timeout. */
  readonly within?: ExtensionWorker | undefined;
  /** Ends the call and its worker. */
  readonly signal?: AbortSignal;
  /** Called when a worker begins the call. */
  readonly onBegun?: () => void;
}

/** One extension's workers. Each runs one call at a time, so a call that harms its worker harms no other call. */
export interface WorkerPool {
  /** Starts the first worker. Rejects with a sentence when the extension cannot be loaded. */
  load(): Promise<LoadedFile>;
  /**
   * Calls the extension's function. Throws its refusals, 500 for a defect, 504 when it takes too long, 503 when no
   * worker is free in time.
   */
  call(call: PoolCall): Promise<unknown>;
  /** Ends every worker, even during a call. */
  stop(): void;
  /** Ends every worker once it has finished. */
  retire(): void;
}

export interface PoolOptions {
  readonly name: string;
  readonly file: string;
  readonly maxWorkers: number;
  /** Whether one worker always runs. */
  readonly keepsOne: boolean;
  readonly memoryMb: number;
  readonly runner: RunnerProcess;
  /** The gate for all the runner's pools, through which workers start. */
  readonly starts: Gate;
  readonly log: Logger;
}

const loadTimeoutMs = 5000;
/** A worker is ended when an earlier call's code keeps it from beginning a call for this long. */
const beginTimeoutMs = 3000;

/** The worker ended before it began the call, so another worker can run it. */
class NotBegun extends WorkerEnded {}

/** Creates an extension's pool; nothing runs before `load`. */
export function createWorkerPool(options: PoolOptions): WorkerPool {
  const { name, file, maxWorkers, keepsOne, memoryMb, runner, starts, log } = options;
  const startWorker = () => startExtensionWorker({ name, file, memoryMb, loadTimeoutMs, runner, starts, log });
  const supply = new WorkerSupply({ name, maxWorkers, keepsOne, startWorker, log });

  const runOn = async (worker: ExtensionWorker, call: PoolCall, timeoutMs: number): Promise<unknown> => {
    const onBegun = () => {
      supply.noteBegun(worker);
      call.onBegun?.();
    };
    const value = unwrap(await runInTime({ name, worker, call, timeoutMs, onBegun }), name, call, log);
    supply.noteSuccess();
    return value;
  };

  async function runOnAnyWorker(call: PoolCall): Promise<unknown> {
    const endsAtMs = performance.now() + (call.waitMs ?? call.timeoutMs);
    const leftMs = () => Math.max(1, endsAtMs - performance.now());
    for (;;) {
      const worker = await supply.acquire(leftMs());
      try {
        return await runOn(worker, call, call.waitMs === undefined ? leftMs() : call.timeoutMs);
      } catch (error) {
        if (!(error instanceof NotBegun)) throw error;
      } finally {
        supply.release(worker);
      }
    }
  }

  return {
    load: () => supply.start().loaded,
    async call(call) {
      try {
        return await (call.within ? runOn(call.within, call, call.timeoutMs) : runOnAnyWorker(call));
      } catch (error) {
        throw logFailure(error, name, call, log);
      }
    },
    stop: () => supply.stop(),
    retire: () => supply.retire(),
  };
}

interface TimedRun {
  readonly name: string;
  readonly worker: ExtensionWorker;
  readonly call: PoolCall;
  readonly timeoutMs: number;
  readonly onBegun: () => void;
}

/** Runs a call; ends the worker when the call does not begin or finish in time. */
async function runInTime({ name, worker, call, timeoutMs, onBegun }: TimedRun): Promise<CallOutcome> {
  let isLate = false;
  let isStuck = false;
  const beginTimer = setTimeout(() => {
    isStuck = true;
    worker.end("an earlier call's code blocks the next one");
  }, beginTimeoutMs);
  const timer = setTimeout(() => {
    isLate = true;
    worker.end(`${nameOfTarget(call.target)} took longer than ${call.timeoutMs} ms`);
  }, timeoutMs);
  const abort = () => worker.end(`${nameOfTarget(call.target)} was asked to end`);
  call.signal?.addEventListener('abort', abort);
  const hasBegun = () => {
    clearTimeout(beginTimer);
    onBegun();
  };
  try {
    call.signal?.throwIfAborted();
    return await worker.run({ ...call, onBegun: hasBegun });
  } catch (error) {
    if (isLate) throw timedOut(name, call);
    if (isStuck) throw new NotBegun('it did not begin the call');
    throw error;
  } finally {
    clearTimeout(timer);
    clearTimeout(beginTimer);
    call.signal?.removeEventListener('abort', abort);
  }
}

/** Returns a call's value; throws its refusal, or 500 for a defect, which is logged. */
function unwrap(outcome: CallOutcome, name: string, { target }: PoolCall, log: Logger): unknown {
  if ('value' in outcome) return outcome.value;
  const { error } = outcome;
  if (error.status !== undefined) throw toAppError(error);
  log.error({ extension: name, call: nameOfTarget(target), err: error }, 'an extension failed');
  throw failed(name, error);
}

/** Logs a call that ended its worker or took too long, and returns the error to throw. */
function logFailure(error: unknown, name: string, { target, timeoutMs }: PoolCall, log: Logger): unknown {
  const fields = { extension: name, call: nameOfTarget(target) };
  if (error instanceof WorkerEnded) {
    log.error({ ...fields, reason: error.message }, 'an extension aborted a call');
    return failed(name, error);
  }
  if (error instanceof AppError && error.status === 504)
    log.error({ ...fields, timeoutMs }, 'an extension took too long');
  return error;
}

const failed = (name: string, cause: unknown) =>
  new AppError(500, 'extension_failed', `the extension ${name} failed`, { cause });

const timedOut = (name: string, { timeoutMs }: PoolCall) =>
  new AppError(504, 'extension_timeout', `the extension ${name} took longer than ${timeoutMs} ms`);
