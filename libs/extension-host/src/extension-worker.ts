import type { Gate } from '@recordbus/limits/gate';
import type { Logger } from '@recordbus/process/logging';
import type { CallTarget, ExtensionDescription } from './description.ts';
import type { CallOutcome, FromWorker } from './protocol.ts';
import type { RemoteWorker, RunnerProcess } from './runner-process.ts';
import { createWorkerCalls } from './worker-calls.ts';

/** Runs a tool for a call's code; `method` is `<tool>.<function>`. */
export type AnswerAsk = (method: string, args: readonly unknown[], worker: ExtensionWorker) => Promise<unknown>;

export interface WorkerCall {
  readonly target: CallTarget;
  readonly input: unknown;
  readonly answer: AnswerAsk;
  /** Called when the worker begins the call. */
  readonly onBegun?: () => void;
}

/** Thrown when a worker ended before the call was done. */
export class WorkerEnded extends Error {
  override name = 'WorkerEnded';
}

/** A loaded file. */
export interface LoadedFile {
  readonly description: ExtensionDescription;
  /** Its imports' paths, including its own. */
  readonly files: readonly string[];
}

/** One worker that has loaded an extension, or is loading it. */
export interface ExtensionWorker {
  /** Rejects with a sentence when the file cannot be loaded. */
  readonly loaded: Promise<LoadedFile>;
  /** Runs a call and returns its outcome; rejects with WorkerEnded when the worker ended meanwhile. */
  run(call: WorkerCall): Promise<CallOutcome>;
  end(reason: string): void;
  /** Resolves with the reason when it has ended. */
  readonly ended: Promise<string>;
}

interface WorkerOptions {
  readonly name: string;
  readonly file: string;
  readonly memoryMb: number;
  readonly loadTimeoutMs: number;
  readonly runner: RunnerProcess;
  /** Limits concurrent starts: with many at once none would get enough CPU time to load within its timeout. */
  readonly starts: Gate;
  readonly log: Logger;
}

/** Longest wait until a worker begins to load its file; a longer one is not the extension's fault. */
const startTimeoutMs = 60_000;

/** Starts a worker that loads an extension's file. */
export function startExtensionWorker(options: WorkerOptions): ExtensionWorker {
  const { name, file, memoryMb, loadTimeoutMs, runner, starts, log } = options;
  const loading = Promise.withResolvers<LoadedFile>();
  const ending = Promise.withResolvers<string>();
  const calls = createWorkerCalls({
    post: (message) => remote?.post(message),
    onDefect: (defect, method) => log.error({ extension: name, err: defect }, `${method} failed`),
  });
  let givenReason: string | undefined;
  let remote: RemoteWorker | undefined;
  let timer: NodeJS.Timeout | undefined;

  async function start(): Promise<void> {
    if (givenReason !== undefined) return onEnd(givenReason);
    remote = runner.start({ file, memoryMb }, { onMessage: receive, onEnd });
    timer = setTimeout(() => end(`its worker did not start within ${startTimeoutMs} ms`), startTimeoutMs);
    await loading.promise.catch(() => {});
  }
  void starts.run(start);
  // A rejection without a waiter is not an unhandled error in this process.
  loading.promise.catch(() => {});

  function onEnd(reason: string): void {
    clearTimeout(timer);
    const why = givenReason ?? reason;
    loading.reject(new Error(why));
    calls.endAll(new WorkerEnded(why));
    ending.resolve(why);
  }

  function end(reason: string): void {
    givenReason ??= reason;
    remote?.end();
  }

  function receive(message: FromWorker): void {
    switch (message.type) {
      case 'loading':
        clearTimeout(timer);
        timer = setTimeout(() => end(`it did not load within ${loadTimeoutMs} ms`), loadTimeoutMs);
        return;
      case 'loaded':
        clearTimeout(timer);
        loading.resolve(message);
        return;
      case 'unloadable':
        end(message.error.stack ?? message.error.message);
        return;
      case 'log':
        log[message.level]({ ...toLogFields(message.fields), extension: name }, message.message);
        return;
      default:
        calls.receive(message);
    }
  }

  const worker: ExtensionWorker = {
    loaded: loading.promise,
    ended: ending.promise,
    end,
    run: ({ target, input, answer, onBegun }) =>
      calls.run({ target, input, answer: (method, args) => answer(method, args, worker), onBegun }),
  };
  return worker;
}

/** The fields that every log line has. */
const reserved: ReadonlySet<string> = new Set([
  'level',
  'time',
  'msg',
  'service',
  'extension',
  'request_id',
  'trace_id',
]);

/** Returns the fields that code adds to a log line; those with reserved names get an underscore, such as `level_`. */
const toLogFields = (given: object | undefined): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(given ?? {}).map(([name, value]) => [reserved.has(name) ? `${name}_` : name, value]),
  );
