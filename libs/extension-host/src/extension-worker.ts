import { createGate, type Gate } from '@recordbus/shared/gate';
import type { Logger } from '@recordbus/shared/logging';
import type { CallTarget, Description } from './description.ts';
import { toLogFields } from './log-fields.ts';
import { toPlainError } from './plain-errors.ts';
import type { FromWorker, Outcome } from './protocol.ts';
import type { RemoteWorker, RunnerProcess } from './runner-process.ts';

/** Answers what the code of a call asks for; `method` is `<tool>.<function>`. */
export type AnswerAsk = (method: string, args: readonly unknown[], worker: ExtensionWorker) => Promise<unknown>;

export interface WorkerCall {
  readonly target: CallTarget;
  readonly input: unknown;
  readonly answer: AnswerAsk;
  /** Called when the worker has come to the call. */
  readonly onBegun?: () => void;
}

/** The worker ended before it was done. */
export class WorkerEnded extends Error {
  override name = 'WorkerEnded';
}

/** What is known of a file once it is loaded. */
export interface LoadedFile {
  readonly description: Description;
  /** Paths of what was imported, its own file among them. */
  readonly files: readonly string[];
}

/** One worker that has loaded an extension, or is loading it. */
export interface ExtensionWorker {
  /** Rejects with the sentence that says why it can't be loaded. */
  readonly loaded: Promise<LoadedFile>;
  /** Gives what came of the call; rejects with WorkerEnded when the worker ended meanwhile. */
  run(call: WorkerCall): Promise<Outcome>;
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
  /** Passed while it starts: of many at once each would have too little of the processor to load in its time. */
  readonly starts: Gate;
  readonly log: Logger;
}

interface RunningCall {
  readonly answer: AnswerAsk;
  readonly done: PromiseWithResolvers<Outcome>;
  readonly onBegun: (() => void) | undefined;
  /** What it has asked for and not got yet. */
  readonly asks: Set<Promise<void>>;
  readonly turns: Gate;
}

/** How much of what one call asks for is done at once: calls share the connections to the database with all others. */
const asksAtOnce = 8;

/** Until a worker comes to the file; what takes longer is not the fault of an extension. */
const startTimeoutMs = 60_000;

/** Starts a worker that loads the file of an extension. */
export function startExtensionWorker(options: WorkerOptions): ExtensionWorker {
  const { name, file, memoryMb, loadTimeoutMs, runner, starts, log } = options;
  const loading = Promise.withResolvers<LoadedFile>();
  const ending = Promise.withResolvers<string>();
  const calls = new Map<number, RunningCall>();
  let lastCall = 0;
  let givenReason: string | undefined;
  let remote: RemoteWorker | undefined;
  let timer: NodeJS.Timeout | undefined;

  async function start(): Promise<void> {
    if (givenReason !== undefined) return onEnd(givenReason);
    remote = runner.start({ file, memoryMb }, { onMessage: hear, onEnd });
    timer = setTimeout(() => end(`its worker did not start within ${startTimeoutMs} ms`), startTimeoutMs);
    await loading.promise.catch(() => {});
  }
  void starts.run(start);
  // Whoever waits for it hears of it; when nobody does, it is no error of this process.
  loading.promise.catch(() => {});

  function onEnd(reason: string): void {
    clearTimeout(timer);
    const why = givenReason ?? reason;
    loading.reject(new Error(why));
    for (const { done } of calls.values()) done.reject(new WorkerEnded(why));
    calls.clear();
    ending.resolve(why);
  }

  function end(reason: string): void {
    givenReason ??= reason;
    remote?.end();
  }

  function hear(message: FromWorker): void {
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
      case 'begun':
        calls.get(message.call)?.onBegun?.();
        return;
      case 'log':
        log[message.level]({ ...toLogFields(message.fields), extension: name }, message.message);
        return;
      case 'done':
        void finish(message);
        return;
      case 'ask':
        begin(message);
    }
  }

  /** A call is over when everything is that it has begun, whether its code waited for that or not. */
  async function finish({ call, outcome }: Extract<FromWorker, { type: 'done' }>): Promise<void> {
    const running = calls.get(call);
    while (running && running.asks.size > 0) await Promise.all(running.asks);
    calls.delete(call);
    running?.done.resolve(outcome);
  }

  function begin({ ask, call, method, args }: Extract<FromWorker, { type: 'ask' }>): void {
    const running = calls.get(call);
    if (!running) {
      remote?.post({ type: 'answer', ask, outcome: { error: { message: 'the call is over' } } });
      return;
    }
    const isOver = () => calls.get(call) !== running;
    const asking = running.turns
      .run(() => outcomeOf(running, isOver, method, args))
      .then((outcome) => {
        remote?.post({ type: 'answer', ask, outcome });
        running.asks.delete(asking);
      });
    running.asks.add(asking);
  }

  async function outcomeOf(
    running: RunningCall,
    isOver: () => boolean,
    method: string,
    args: readonly unknown[],
  ): Promise<Outcome> {
    if (isOver()) return { error: { message: 'the call is over' } };
    try {
      return { value: await running.answer(method, args, worker) };
    } catch (error) {
      return {
        error: toPlainError(error, (defect) => log.error({ extension: name, err: defect }, `${method} failed`)),
      };
    }
  }

  const worker: ExtensionWorker = {
    loaded: loading.promise,
    ended: ending.promise,
    end,
    run({ target, input, answer, onBegun }) {
      lastCall += 1;
      const done = Promise.withResolvers<Outcome>();
      const turns = createGate({ width: asksAtOnce, maxWaiting: Number.POSITIVE_INFINITY, refusal: '' });
      calls.set(lastCall, { answer, done, onBegun, asks: new Set(), turns });
      remote?.post({ type: 'call', call: lastCall, target, input });
      return done.promise;
    },
  };
  return worker;
}
