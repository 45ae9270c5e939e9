import fc from 'fast-check';
import type { Operand } from '../src/language/ast.ts';
import { numbers, texts } from './sample-values.ts';
import type { RequestWords, Word, Words } from './vocabulary.ts';

/** Positions in the printed text, which the comparison parses again. */
export const position = 0;

export type PathOperand = Extract<Operand, { kind: 'path' | 'request' }>;

/** The names that a test may use; request names only in rules. */
export interface Vocabulary {
  readonly words: Words;
  readonly request: RequestWords | undefined;
}

/** Alternatives; empty if the collections have no operands of a kind. */
export type Operands = readonly fc.Arbitrary<Operand>[];

export const text: Operands = [fc.constantFrom(...texts).map((value): Operand => ({ kind: 'text', value, position }))];
export const number: Operands = [
  fc
    .constantFrom('0', '1', '5', '-1', '5.50', '007', ...numbers.slice(0, 6).map(String))
    .map((digits): Operand => ({ kind: 'number', digits, position })),
];
export const bool: Operands = [fc.boolean().map((value): Operand => ({ kind: 'bool', value, position }))];
export const nothing: Operands = [fc.constant<Operand>({ kind: 'null', position })];
export const dateText: Operands = [
  fc
    .constantFrom('2023-11-14T22:13:20Z', '1970-01-01', '5')
    .map((value): Operand => ({ kind: 'text', value, position })),
];

const moments = [
  ...(['now', 'todayStart', 'todayEnd', 'yesterday', 'tomorrow'] as const),
  ...(['monthStart', 'monthEnd', 'yearStart', 'yearEnd'] as const),
];
export const moment: Operands = [
  fc
    .tuple(fc.constantFrom(...moments), fc.constantFrom(0, 0, -86_400 * 400, 3600))
    .map(([name, shiftSec]): Operand => ({ kind: 'moment', name, shiftSec, position })),
];

/** Paths from some words. Those over few relations are drawn more often. */
export function paths(words: readonly Word[]): readonly fc.Arbitrary<PathOperand>[] {
  const byHops = [...Map.groupBy(words, ({ hops }) => hops)].map(([hops, group]) => ({
    weight: Math.max(1, 4 - hops),
    arbitrary: fc.constantFrom(...group).map(pathOf),
  }));
  return byHops.length > 0 ? [fc.oneof(...byHops)] : [];
}

function pathOf({ path }: Word): PathOperand {
  const [way = '', modifier] = path.split(':');
  const rest = { position, ...(modifier === undefined ? {} : { modifier: modifier as 'lower' }) };
  return way.startsWith('@')
    ? { kind: 'request', segments: way.slice('@request.'.length).split('.'), ...rest }
    : { kind: 'path', segments: way.split('.'), ...rest };
}

const counts = (words: readonly Word[]): Operands =>
  paths(words).map((path) => path.map((of): Operand => ({ kind: 'count', of, position })));

/** Distances from places that no point has, so rounding changes no result. */
const distances = (words: readonly Word[]): Operands =>
  paths(words).map((path) =>
    fc
      .tuple(path, fc.constantFrom([48.1, 16], [0, 0], [-33, 151], [90, 20]))
      .map(([of, [lat = 0, lng = 0]]): Operand => {
        if (of.kind !== 'path') throw new Error('distances are of fields');
        return { kind: 'distance', of, lat, lng, position };
      }),
  );

/** A vocabulary's operands by kind. */
export function operandsOf({ words, request }: Vocabulary) {
  return {
    text: paths(words.text),
    number: [...paths(words.number), ...counts(words.counts), ...distances(words.points)],
    bool: paths(words.bool),
    date: paths(words.date),
    list: paths(words.list),
    json: paths(words.json),
    vector: paths(words.vector),
    request: {
      text: paths(request?.text ?? []),
      number: [...paths(request?.number ?? []), ...counts(request?.counts ?? [])],
      bool: paths(request?.bool ?? []),
      date: paths(request?.date ?? []),
      list: paths(request?.list ?? []),
      json: paths(request?.json ?? []),
      any: paths(request?.any ?? []),
    },
  };
}
