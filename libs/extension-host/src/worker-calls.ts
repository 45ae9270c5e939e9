import { createGate, type Gate } from '@recordbus/limits/gate';
import type { CallTarget } from './description.ts';
import { toPlainError } from './plain-errors.ts';
import type { CallOutcome, FromWorker, ToWorker } from './protocol.ts';

interface NewCall {
  readonly target: CallTarget;
  readonly input: unknown;
  /** Runs a tool for the call's code. */
  readonly answer: (method: string, args: readonly unknown[]) => Promise<unknown>;
  /** Called when the worker begins the call. */
  readonly onBegun: (() => void) | undefined;
}

type Ask = Extract<FromWorker, { type: 'ask' }>;
type Done = Extract<FromWorker, { type: 'done' }>;
type CallMessage = Ask | Done | Extract<FromWorker, { type: 'begun' }>;

/** The calls that one worker runs, with their code's tool calls. */
interface WorkerCalls {
  /** Sends a call to the worker and returns its outcome. */
  run(call: NewCall): Promise<CallOutcome>;
  receive(message: CallMessage): void;
  /** Rejects the calls in progress. */
  endAll(error: Error): void;
}

interface CallsOptions {
  readonly post: (message: ToWorker) => void;
  /** Receives a tool error that is not a refusal. */
  readonly onDefect: (defect: unknown, method: string) => void;
}

interface RunningCall extends Pick<NewCall, 'answer' | 'onBegun'> {
  readonly done: PromiseWithResolvers<CallOutcome>;
  /** The tool calls in progress. */
  readonly asks: Set<Promise<void>>;
  readonly turns: Gate;
}

/** How many of one call's tool calls run at once. All calls share the database connections. */
const maxConcurrentAsks = 8;

const callIsOver: CallOutcome = { error: { message: 'the call is over' } };

/** Creates a worker's calls. */
export function createWorkerCalls({ post, onDefect }: CallsOptions): WorkerCalls {
  const calls = new Map<number, RunningCall>();
  let lastCall = 0;

  /** Ends a call once all its tool calls have ended, including those that its code did not await. */
  async function finish({ call, outcome }: Done): Promise<void> {
    const running = calls.get(call);
    while (running && running.asks.size > 0) await Promise.all(running.asks);
    calls.delete(call);
    running?.done.resolve(outcome);
  }

  function runTool({ ask, call, method, args }: Ask): void {
    const running = calls.get(call);
    if (!running) {
      post({ type: 'answer', ask, outcome: callIsOver });
      return;
    }
    const work = running.turns
      .run(async () => (calls.get(call) === running ? outcomeOf(running, method, args) : callIsOver))
      .then((outcome) => {
        post({ type: 'answer', ask, outcome });
        running.asks.delete(work);
      });
    running.asks.add(work);
  }

  async function outcomeOf({ answer }: RunningCall, method: string, args: readonly unknown[]): Promise<CallOutcome> {
    try {
      return { value: await answer(method, args) };
    } catch (error) {
      return { error: toPlainError(error, (defect) => onDefect(defect, method)) };
    }
  }

  return {
    run({ target, input, answer, onBegun }) {
      lastCall += 1;
      const done = Promise.withResolvers<CallOutcome>();
      const turns = createGate({ width: maxConcurrentAsks, maxWaiting: Number.POSITIVE_INFINITY, refusal: '' });
      calls.set(lastCall, { answer, onBegun, done, asks: new Set(), turns });
      post({ type: 'call', call: lastCall, target, input });
      return done.promise;
    },
    receive(message) {
      if (message.type === 'begun') calls.get(message.call)?.onBegun?.();
      else if (message.type === 'done') void finish(message);
      else runTool(message);
    },
    endAll(error) {
      for (const { done } of calls.values()) done.reject(error);
      calls.clear();
    },
  };
}
