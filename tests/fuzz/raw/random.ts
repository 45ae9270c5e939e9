/** One seed's numbers, so that a run can be repeated. */
export interface Random {
  /** A whole number from 0 to below `limit`. */
  below(limit: number): number;
  one<T>(values: readonly T[]): T;
  /** Whether one of `times` happens. */
  oneIn(times: number): boolean;
  bytes(length: number): Buffer;
}

/** Creates a seed's numbers (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }
  const below = (limit: number): number => next() % limit;
  return {
    below,
    one: (values) => values[below(values.length)] as (typeof values)[number],
    oneIn: (times) => below(times) === 0,
    bytes: (length) => Buffer.from(Array.from({ length }, () => below(256))),
  };
}

/** Texts that parsers treat in a special way. */
const special = [
  '\r',
  '\n',
  '\r\n',
  '\r\n\r\n',
  '--',
  '"',
  "'",
  ';',
  ':',
  '=',
  ',',
  '\0',
  '\\',
  '\xff',
  '%',
  '{',
  '[',
  ' ',
];

/** Returns the bytes with a few changes: cut, repeated, exchanged, removed, and with special texts. */
export function mutate(random: Random, original: Uint8Array, most = 4): Buffer {
  let bytes = Buffer.from(original);
  for (let left = random.below(most) + 1; left > 0; left -= 1) {
    const at = random.below(bytes.length + 1);
    const length = random.below(random.oneIn(4) ? 200 : 8) + 1;
    const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
    const inserted = random.oneIn(2) ? Buffer.from(random.one(special), 'latin1') : random.bytes(length);
    bytes = random.one([
      () => Buffer.concat([before, inserted, after]),
      () => Buffer.concat([before, inserted, after.subarray(inserted.length)]),
      () => Buffer.concat([before, after.subarray(length)]),
      () => Buffer.concat([before, after.subarray(0, length), after]),
      () => (random.oneIn(4) ? before : bytes),
    ])();
  }
  return bytes;
}
