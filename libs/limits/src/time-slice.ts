import { setImmediate } from 'node:timers/promises';

/** How long work runs before it yields to the event loop, in milliseconds. */
const sliceMs = 4;

/** Splits long work into time slices, between which the event loop runs other work (cost §4.1). */
export interface TimeSlice {
  /** Whether the slice is over. */
  isOver(): boolean;
  /** Lets the event loop run waiting work; then the next slice begins. */
  pause(): Promise<void>;
}

/** Begins the first slice. */
export function startSlice(): TimeSlice {
  let startedAtMs = performance.now();
  return {
    isOver: () => performance.now() - startedAtMs >= sliceMs,
    async pause() {
      await setImmediate();
      startedAtMs = performance.now();
    },
  };
}

/** Passes items on, and lets the event loop run waiting work between two of them when a slice is over. */
export async function* inSlices<T>(items: Iterable<T>): AsyncGenerator<T> {
  const slice = startSlice();
  for (const item of items) {
    if (slice.isOver()) await slice.pause();
    yield item;
  }
}
