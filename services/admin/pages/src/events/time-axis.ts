/** Maps the time since the commit to 0 to 1. The axis is logarithmic, since answers take milliseconds and retries hours. */
export type Scale = (ms: number) => number;

/** Below this the axis is linear. */
const linearMs = 10;

/** Returns the scale that ends at a time after the commit. */
export function scaleTo(lastMs: number): Scale {
  const whole = Math.log1p(Math.max(lastMs, 100) / linearMs);
  return (ms) => Math.min(1, Math.log1p(Math.max(0, ms) / linearMs) / whole);
}

const marks: readonly (readonly [number, string])[] = [
  [0, '0'],
  [10, '10 ms'],
  [100, '100 ms'],
  [1000, '1 s'],
  [10_000, '10 s'],
  [60_000, '1 min'],
  [600_000, '10 min'],
  [3_600_000, '1 h'],
  [21_600_000, '6 h'],
  [86_400_000, '1 d'],
  [604_800_000, '7 d'],
  [2_592_000_000, '30 d'],
];

/** Returns an axis's marks, each at least `apart` from the one before. */
export function ticksOf(scale: Scale, lastMs: number, apart: number): { readonly at: number; readonly name: string }[] {
  const ticks: { at: number; name: string }[] = [];
  for (const [ms, name] of marks) {
    const at = scale(ms);
    if (ms <= Math.max(lastMs, 100) && at - (ticks.at(-1)?.at ?? -1) >= apart) ticks.push({ at, name });
  }
  return ticks;
}
