/** A generator of numbers below `max`, the same in each run. */
export function createRandom(seed: number) {
  let state = seed;
  return (max: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * max);
  };
}
