import { startSlice } from '@recordbus/limits/time-slice';

/** How many steps run between two looks at the clock. */
const stepsPerCheck = 256;

/** Runs `step` for each index below `count`, in time slices between which the event loop runs other work. */
export async function inSlices(count: number, step: (index: number) => void): Promise<void> {
  const slice = startSlice();
  for (let index = 0; index < count; index += 1) {
    step(index);
    if (index % stepsPerCheck === stepsPerCheck - 1 && slice.isOver()) await slice.pause();
  }
}
