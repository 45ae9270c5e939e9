import fc from 'fast-check';
import { type Expression, type Operand, type Operator, operators, type Test } from '../src/ast.ts';
import { type Vocabulary, vocabularies, withOuter } from './vocabulary.ts';
import { numbers, texts } from './world.ts';

const position = 0;

type PathOperand = Extract<Operand, { kind: 'path' | 'request' }>;

function pathOf(text: string): PathOperand {
  const [way = '', modifier] = text.split(':');
  const rest = { position, ...(modifier === undefined ? {} : { modifier: modifier as 'lower' }) };
  return way.startsWith('@')
    ? { kind: 'request', segments: way.slice('@request.'.length).split('.'), ...rest }
    : { kind: 'path', segments: way.split('.'), ...rest };
}

type Operands = fc.Arbitrary<Operand>;
const from = (paths: readonly string[]): Operands => fc.constantFrom(...paths.map(pathOf));

const text: Operands = fc.constantFrom(...texts).map((value): Operand => ({ kind: 'text', value, position }));
const number: Operands = fc
  .constantFrom('0', '1', '5', '-1', '5.50', '007', ...numbers.slice(0, 6).map(String))
  .map((digits): Operand => ({ kind: 'number', digits, position }));
const bool: Operands = fc.boolean().map((value): Operand => ({ kind: 'bool', value, position }));
const nothing: Operands = fc.constant<Operand>({ kind: 'null', position });
const dateText: Operands = fc
  .constantFrom('2023-11-14T22:13:20Z', '1970-01-01', '5')
  .map((value): Operand => ({ kind: 'text', value, position }));
const moment: Operands = fc
  .tuple(
    fc.constantFrom(
      'now',
      'todayStart',
      'todayEnd',
      'yesterday',
      'tomorrow',
      'monthStart',
      'monthEnd',
      'yearStart',
      'yearEnd',
    ),
    fc.constantFrom(0, 0, -86_400 * 400, 3600),
  )
  .map(([name, shiftSec]): Operand => ({ kind: 'moment', name, shiftSec, position }));

const count = (paths: readonly string[]): Operands =>
  fc.constantFrom(...paths.map(pathOf)).map((of): Operand => ({ kind: 'count', of, position }));

/** Distances from places that no point has, so that rounding decides about nothing. */
const distance = (paths: readonly string[]): Operands =>
  fc
    .tuple(fc.constantFrom(...paths.map(pathOf)), fc.constantFrom([48.1, 16], [0, 0], [-33, 151], [90, 20]))
    .map(([of, [lat = 0, lng = 0]]): Operand => {
      if (of.kind !== 'path') throw new Error('distances are of fields');
      return { kind: 'distance', of, lat, lng, position };
    });

type Pair = fc.Arbitrary<readonly [Operand, Operand]>;

/** Operands by their kinds. */
function operandsOf(words: Vocabulary) {
  const counts = words.counts.length > 0 ? [count(words.counts)] : [];
  const distances = words.points.length > 0 ? [distance(words.points)] : [];
  return {
    text: from(words.text),
    number: fc.oneof(from(words.number), from(words.number), ...counts, ...distances),
    bool: from(words.bool),
    date: from(words.date),
    list: from(words.list),
    json: from(words.json),
    request: words.request && {
      text: from(words.request.text),
      any: from(words.request.any),
      bool: from(words.request.bool),
      number: fc.oneof(from(words.request.number), count(words.request.counts)),
      list: from(words.request.list),
    },
  };
}

/** Pairs that mostly compare, with the column on either side. */
function pairs(words: Vocabulary): Pair {
  const of = operandsOf(words);
  const { request } = of;
  const or = (...arbitraries: Operands[]) => fc.oneof(...arbitraries, ...(request ? [request.any] : []));
  const sensible: Pair[] = [
    fc.tuple(of.text, or(text, text, number, of.text, nothing, ...(request ? [request.text, request.list] : []))),
    fc.tuple(of.number, or(number, of.number, nothing, ...(request ? [request.number] : []))),
    fc.tuple(of.bool, or(bool, of.bool, nothing, ...(request ? [request.bool] : []))),
    fc.tuple(of.date, or(number, dateText, moment, of.date, of.number, nothing)),
    fc.tuple(of.list, or(text, of.text, nothing, ...(request ? [request.text] : []))),
    fc.tuple(of.json, or(text, number, bool, nothing, of.json, of.text, of.number, of.bool)),
    fc.tuple(fc.oneof(text, number, bool), fc.oneof(text, number, bool, nothing)),
    ...(request
      ? [
          fc.tuple(request.text, fc.oneof(text, nothing, request.text, request.list)),
          fc.tuple(request.bool, fc.oneof(bool, nothing)),
          fc.tuple(request.number, fc.oneof(number, nothing, of.number)),
          fc.tuple(request.list, fc.oneof(text, nothing, of.text)),
          fc.tuple(request.any, fc.oneof(text, number, bool, nothing, request.any, request.text)),
        ]
      : []),
  ];
  return fc.oneof(...sensible).chain(([a, b]) => fc.constantFrom([a, b] as const, [b, a] as const, [a, b] as const));
}

const operator = fc.constantFrom(...operators);
const order = fc.constantFrom('>' as const, '>=' as const, '<' as const, '<=' as const);
const equation = fc.constantFrom('=' as const, '!=' as const);

/** Mostly fits the sides. The last digits of a distance may differ. */
function operatorFor(sides: readonly Operand[], words: Vocabulary): fc.Arbitrary<Operator> {
  if (sides.some(({ kind }) => kind === 'distance'))
    return sides.some(({ kind }) => kind === 'null') ? equation : order;
  return isOrdered(sides, words)
    ? operator
    : fc.oneof({ weight: 9, arbitrary: equation }, { weight: 1, arbitrary: operator });
}

/** Null and lists have no order. */
const isOrdered = (sides: readonly Operand[], words: Vocabulary): boolean =>
  !sides.some((side) => side.kind === 'null' || ('segments' in side && words.lists.has(side.segments.at(-1) ?? '')));

function testArbitrary(words: Vocabulary): fc.Arbitrary<Test> {
  const comparison = pairs(words)
    .chain((sides) => fc.tuple(fc.constant(sides), operatorFor(sides, words)))
    .map(([[left, right], sign]): Test => ({ kind: 'comparison', operator: sign, left, right }));
  const of = operandsOf(words);
  const several = from([...words.several, ...(words.request?.list ?? [])]).filter(
    (it) => it.kind === 'path' || it.kind === 'request',
  );
  const within = fc.oneof(
    fc.tuple(fc.oneof(of.text, of.list), fc.array(text, { minLength: 1, maxLength: 3 })),
    fc.tuple(of.number, fc.array(number, { minLength: 1, maxLength: 3 })),
    fc.tuple(of.date, fc.array(fc.oneof(number, moment), { minLength: 1, maxLength: 3 })),
    fc.tuple(of.json, fc.array(fc.oneof(text, number), { minLength: 1, maxLength: 3 })),
    fc.tuple(fc.oneof(of.text, of.list, text), several as fc.Arbitrary<PathOperand>),
    ...(words.request
      ? [fc.tuple(of.text, fc.array(fc.oneof(text, from(words.request.text)), { minLength: 1, maxLength: 3 }))]
      : []),
  );
  const membership = within.map(([left, among]): Test => ({ kind: 'in', left, among, position }));
  return fc.oneof({ weight: 4, arbitrary: comparison }, { weight: 1, arbitrary: membership });
}

/** Expressions over the collection `posts`; a few of them are refused. */
export const expressionArbitrary = (withRequest: boolean): fc.Arbitrary<Expression> =>
  expressionsOver(vocabularies.posts, withRequest, 2);

function expressionsOver(all: Vocabulary, withRequest: boolean, depth: number): fc.Arbitrary<Expression> {
  const words = withRequest ? all : { ...all, request: undefined };
  const test = testArbitrary(words);
  const quantified = fc
    .tuple(fc.constantFrom('all' as const, 'none' as const), test)
    .map(([quantifier, it]): Expression => ({ kind: 'quantified', quantifier, test: it, position }));
  const related = depth === 0 ? [] : [{ weight: 2, arbitrary: existsArbitrary(words, withRequest, depth - 1) }];
  const leaf = fc.oneof<fc.WeightedArbitrary<Expression>[]>(
    { weight: 6, arbitrary: test },
    { weight: 2, arbitrary: quantified },
    ...related,
  );
  return fc.letrec<{ expression: Expression; junction: Expression; negation: Expression }>((tie) => ({
    junction: fc.record({
      kind: fc.constantFrom('all' as const, 'any' as const),
      items: fc.array(tie('expression'), { minLength: 2, maxLength: 3 }),
    }),
    negation: fc.record({ kind: fc.constant('not' as const), item: tie('expression') }),
    expression: fc.oneof({ maxDepth: 3, depthSize: 'small' }, leaf, tie('junction'), tie('negation')),
  })).expression;
}

function existsArbitrary(outer: Vocabulary, withRequest: boolean, depth: number): fc.Arbitrary<Expression> {
  const collections = ['comments', 'memberships', 'users'] as const;
  return fc
    .constantFrom(...collections)
    .chain((collection) =>
      expressionsOver(withOuter(vocabularies[collection], outer), withRequest, depth).map(
        (condition): Expression => ({ kind: 'exists', collection, condition, position }),
      ),
    );
}

/** Terms of a sort, on members with a plain order. */
export const sortArbitrary = fc.array(
  fc.record({
    path: fc.constantFrom(
      'title',
      'rank',
      'ok',
      'at',
      'created',
      'author',
      'author.name',
      'author.organization.size',
      'parent.author.name',
      'author.organization.name',
      'parent.rank',
      'count(comments_via_post)',
      'count(readers)',
      'distance(author.organization.place, 48.1, 16)',
    ),
    isDescending: fc.boolean(),
  }),
  { minLength: 1, maxLength: 3 },
);
