import { unavailable } from './errors.ts';

interface GateOptions {
  /** How much work may run at once. */
  readonly width: number;
  /** How much may wait; beyond it work is refused rather than answered after the caller has given up. */
  readonly maxWaiting: number;
  /** What those are told who are refused. */
  readonly refusal: string;
}

/** Lets a bounded amount of work run at once, in the order in which it came. */
export interface Gate {
  /** Runs the work when its turn comes. Throws 503 when too much is waiting. */
  run<T>(work: () => Promise<T>): Promise<T>;
}

/** Makes a gate. */
export function createGate({ width, maxWaiting, refusal }: GateOptions): Gate {
  const waiting: (() => void)[] = [];
  let running = 0;
  return {
    async run(work) {
      if (running < width) running += 1;
      else if (waiting.length < maxWaiting) await new Promise<void>((enter) => waiting.push(enter));
      else throw unavailable(refusal);
      try {
        return await work();
      } finally {
        // A place is handed on, not given back, so that nobody overtakes those who wait.
        const enter = waiting.shift();
        if (enter) enter();
        else running -= 1;
      }
    },
  };
}
