import type { Field } from '@recordbus/schema';

/** Upper and lower case within and beyond ASCII, and characters that are special in LIKE, JSON and SQL. */
export const texts = [
  '',
  'a',
  'A',
  'b',
  'ab',
  'aB%',
  '_b',
  'a\\b',
  '"',
  "'",
  '5',
  'true',
  'Äb',
  'äB',
  'ΑΣ',
  'ας',
  'İ',
  'i',
  '😀a',
  'K',
  'k',
];
export const numbers = [0, 1, -1, 5, 5.5, 0.1, 1e21];
export const seconds = [0, 5, -5, 1_700_000_000, 4_100_000_000];
export const listItems = ['a', 'A', 'ab', '%', 'ä'];
const jsonValues = [
  5,
  'a',
  'A',
  true,
  '5',
  [],
  [1, 'a', null],
  { a: 5 },
  { a: 'b', b: null },
  { a: { b: 'ab' } },
  { bb: 1, a: [true] },
];
const points = [
  { lat: 48.2, lng: 16.4 },
  { lat: -33.9, lng: 151.2 },
  { lat: 90, lng: 0 },
  { lat: 48.2, lng: 16.5 },
];
const lists = [[], ['a'], ['A', 'a'], ['ab', '%', 'ä']];

const samplesOf: Readonly<Record<string, readonly unknown[]>> = {
  number: numbers,
  bool: [true, false],
  date: seconds,
  autodate: seconds,
  json: jsonValues,
  geoPoint: points,
  vector: [
    [0, 1],
    [2, 3],
  ],
};

/** Values that a record may have in a field; relations have ids instead. */
export function samplesFor({ type, options }: Pick<Field, 'type' | 'options'>): readonly unknown[] {
  if (options.multiple === true) return lists;
  return type === 'select' ? listItems : (samplesOf[type] ?? texts);
}
