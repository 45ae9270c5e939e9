import { unavailable } from '@recordbus/errors';

interface GateOptions {
  /** How many pieces of work may run at once. */
  readonly width: number;
  /** How many may wait. Further work is refused: its answer would come after the caller has given up. */
  readonly maxWaiting: number;
  /** The refusal's sentence. */
  readonly refusal: string;
}

/** Lets a bounded amount of work run at once, in arrival order. */
export interface Gate {
  /** Runs the work in its turn. Throws 503 when too much waits. */
  run<T>(work: () => Promise<T>): Promise<T>;
}

/** Creates a gate. */
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
        // The slot passes directly to the next waiter, so new work cannot overtake it.
        const enter = waiting.shift();
        if (enter) enter();
        else running -= 1;
      }
    },
  };
}
