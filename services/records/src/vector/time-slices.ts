import { setImmediate } from 'node:timers/promises';

/** How long the event loop may wait for a slice, in milliseconds. */
const sliceMs = 4;
/** Steps between two looks at the clock. */
const stepsBetween = 256;

/** Does `step` for 0 up to `count`, and lets the event loop do other things in between. */
export async function inSlices(count: number, step: (index: number) => void): Promise<void> {
  let startedAtMs = performance.now();
  for (let index = 0; index < count; index += 1) {
    step(index);
    if (index % stepsBetween !== stepsBetween - 1 || performance.now() - startedAtMs < sliceMs) continue;
    await setImmediate();
    startedAtMs = performance.now();
  }
}
