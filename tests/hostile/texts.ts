/** A text that costs careless code far more time than its length suggests. */
export interface HostileText {
  readonly name: string;
  readonly text: string;
}

const fill = (word: string, length: number): string => word.repeat(Math.ceil(length / word.length)).slice(0, length);

/** Returns texts with `length` UTF-16 code units. */
export function hostileTexts(length: number): readonly HostileText[] {
  const half = Math.floor(length / 2);
  return [
    { name: 'one letter', text: fill('a', length) },
    { name: 'an address of dots', text: `a@${fill('.', length - 3)}@` },
    { name: 'digits and a letter', text: `${fill('1', length - 1)}x` },
    { name: 'spaces and a letter', text: `a${fill(' ', length - 2)}a` },
    { name: 'opening brackets', text: fill('[', length) },
    { name: 'nested JSON', text: `${fill('[', half)}${fill(']', half)}` },
    { name: 'parentheses', text: `${fill('(', half)}${fill(')', half)}` },
    { name: 'percent escapes', text: fill('%41', length) },
    { name: 'quotes and backslashes', text: `"${fill('\\"', length - 2)}` },
    { name: 'combining marks', text: `a${fill('\u0315\u0300', length - 1)}` },
    { name: 'halves of surrogate pairs', text: fill('\ud800', length) },
    { name: 'commas', text: fill('a,', length) },
    { name: 'segments', text: fill('a.', length) },
    { name: 'an expression', text: fill('a=1||', length) },
    { name: 'slashes', text: fill('/', length) },
    { name: 'tags', text: fill('<a ', length) },
  ];
}

/** Returns JSON values with many members, items or levels, about `length` characters long. */
export const hostileValues = (length: number): readonly (readonly [name: string, json: string])[] => [
  ['many members', `{${Array.from({ length: length / 14 }, (_, index) => `"k${index}":1`).join()}}`],
  ['many items', `[${fill('"a",', length - 8)}"a"]`],
  ['nested lists', `${fill('[', length / 2)}${fill(']', length / 2)}`],
  ['nested objects', `${'{"a":'.repeat(length / 6)}1${'}'.repeat(length / 6)}`],
];
