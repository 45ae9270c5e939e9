import fc from 'fast-check';
import { type Operand, type Operator, operators, type Test } from '../src/language/ast.ts';
import {
  bool,
  dateText,
  moment,
  nothing,
  number,
  type Operands,
  operandsOf,
  type PathOperand,
  paths,
  position,
  text,
  type Vocabulary,
} from './operand-arbitrary.ts';

/** Tests from a vocabulary; a few are refused. */
export function testArbitrary(vocabulary: Vocabulary): fc.Arbitrary<Test> {
  const of = operandsOf(vocabulary);
  return fc.oneof(
    { weight: 4, arbitrary: comparisonArbitrary(of, listTest(vocabulary)) },
    { weight: 1, arbitrary: membershipArbitrary(of, vocabulary) },
  );
}

type OfVocabulary = ReturnType<typeof operandsOf>;

type Pair = readonly [Operand, Operand];

/** Pairs of alternatives on the left and on the right; none where one side has none. */
const pairs = (left: Operands, right: Operands): fc.Arbitrary<Pair>[] =>
  left.length > 0 && right.length > 0 ? [fc.tuple(fc.oneof(...left), fc.oneof(...right))] : [];

/** Pairs that mostly compare, with the column on either side. */
function comparisonArbitrary(of: OfVocabulary, isList: (side: Operand) => boolean): fc.Arbitrary<Test> {
  const { request } = of;
  const literals = [...text, ...number, ...bool];
  const sensible = [
    ...pairs(of.text, [...text, ...text, ...of.text, ...nothing, ...request.text, ...request.list, ...request.any]),
    ...pairs(of.number, [...number, ...of.number, ...nothing, ...request.number, ...request.any]),
    ...pairs(of.bool, [...bool, ...of.bool, ...nothing, ...request.bool, ...request.any]),
    ...pairs(of.date, [...number, ...dateText, ...moment, ...of.date, ...of.number, ...nothing, ...request.date]),
    ...pairs(of.list, [...text, ...of.text, ...nothing, ...request.text, ...request.any]),
    ...pairs(of.json, [...literals, ...nothing, ...of.json, ...of.text, ...of.number, ...of.bool, ...request.any]),
    ...pairs(of.vector, nothing),
    ...pairs(literals, [...literals, ...nothing]),
    ...pairs(request.text, [...text, ...nothing, ...request.text, ...request.list]),
    ...pairs([...request.bool, ...request.json], [...bool, ...nothing]),
    ...pairs(request.number, [...number, ...nothing, ...of.number]),
    ...pairs(request.list, [...text, ...nothing, ...of.text]),
    ...pairs(request.any, [...literals, ...nothing, ...request.any, ...request.text]),
  ];
  return fc
    .oneof(...sensible)
    .chain(([a, b]) => fc.constantFrom<Pair[]>([a, b], [b, a], [a, b]))
    .chain((sides) => fc.tuple(fc.constant(sides), operatorFor(sides, isList)))
    .map(([[left, right], operator]): Test => ({ kind: 'comparison', operator, left, right }));
}

const anyOperator = fc.constantFrom(...operators);
const order = fc.constantFrom('>' as const, '>=' as const, '<' as const, '<=' as const);
const equation = fc.constantFrom('=' as const, '!=' as const);

/** Mostly fits the sides: null and lists have no order, and a distance's last digits may differ. */
function operatorFor(sides: Pair, isList: (side: Operand) => boolean): fc.Arbitrary<Operator> {
  if (sides.some(({ kind }) => kind === 'distance'))
    return sides.some(({ kind }) => kind === 'null') ? equation : order;
  return sides.some((side) => side.kind === 'null' || isList(side))
    ? fc.oneof({ weight: 9, arbitrary: equation }, { weight: 1, arbitrary: anyOperator })
    : anyOperator;
}

function listTest({ words, request }: Vocabulary): (side: Operand) => boolean {
  const lists = new Set([...words.list, ...(request?.list ?? [])].map(({ path }) => path.replace('@request.', '')));
  return (side) => 'segments' in side && lists.has(side.segments.join('.'));
}

function membershipArbitrary(of: OfVocabulary, { words, request }: Vocabulary): fc.Arbitrary<Test> {
  const isSeveral = ({ isSeveral: is }: { isSeveral: boolean }) => is;
  const severalOf = (kind: 'text' | 'number' | 'date') =>
    paths([...words[kind], ...(request?.[kind] ?? [])].filter(isSeveral));
  const lists = paths([...words.list, ...(request?.list ?? [])]);
  const tests = [
    ...among([...of.text, ...of.list, ...of.request.text], [...text, ...of.request.text, ...of.request.any]),
    ...among(text, [...text, ...number, ...of.request.text]),
    ...among(of.number, [...number, ...of.request.number]),
    ...among(of.date, [...number, ...moment]),
    ...among(of.json, [...text, ...number]),
    ...within([...of.text, ...of.list, ...text, ...of.request.text], [...severalOf('text'), ...lists]),
    ...within([...of.number, ...number], severalOf('number')),
    ...within([...of.date, ...number], severalOf('date')),
  ];
  return fc.oneof(...tests);
}

/** `in` with some items. */
const among = (left: Operands, items: Operands): fc.Arbitrary<Test>[] =>
  left.length > 0
    ? [
        fc
          .tuple(fc.oneof(...left), fc.array(fc.oneof(...items), { minLength: 1, maxLength: 3 }))
          .map(([side, several]): Test => ({ kind: 'in', left: side, among: several, position })),
      ]
    : [];

/** `in` with a path. */
const within = (left: Operands, right: readonly fc.Arbitrary<PathOperand>[]): fc.Arbitrary<Test>[] =>
  left.length > 0 && right.length > 0
    ? [
        fc
          .tuple(fc.oneof(...left), fc.oneof(...right))
          .map(([side, path]): Test => ({ kind: 'in', left: side, among: path, position })),
      ]
    : [];
