import fc from 'fast-check';
import { type Expression, type Operand, operators } from '../src/ast.ts';
import type { RequestValues } from '../src/index.ts';
import { jsonValues, numbers, seconds, texts } from './world.ts';

const position = 0;
const path = (text: string): Operand => {
  const [way = '', modifier] = text.split(':');
  const rest = { position, ...(modifier === undefined ? {} : { modifier: modifier as 'lower' }) };
  return way.startsWith('@')
    ? { kind: 'request', segments: way.slice('@request.'.length).split('.'), ...rest }
    : { kind: 'path', segments: way.split('.'), ...rest };
};
const from = (...paths: string[]): fc.Arbitrary<Operand> => fc.constantFrom(...paths.map(path));

const text = fc.constantFrom(...texts).map((value): Operand => ({ kind: 'text', value, position }));
const number = fc
  .constantFrom('0', '1', '5', '-1', '5.50', '007', ...numbers.slice(0, 6).map(String))
  .map((digits): Operand => ({ kind: 'number', digits, position }));
const bool = fc.boolean().map((value): Operand => ({ kind: 'bool', value, position }));
const nothing = fc.constant<Operand>({ kind: 'null', position });
const dateText = fc
  .constantFrom('2023-11-14T22:13:20Z', '1970-01-01', '5')
  .map((value): Operand => ({ kind: 'text', value, position }));
const moment = fc
  .constantFrom('now', 'todayStart', 'todayEnd')
  .map((name): Operand => ({ kind: 'moment', name, position }));

const textPath = from(
  'id',
  'title',
  'Order',
  'kind',
  'author',
  'parent',
  'author.id',
  'author.name',
  'author.organization.name',
  'author.organization.id',
  'parent.title',
  'parent.parent.author.name',
  'title:lower',
  'author.name:lower',
);
const numberPath = from('rank', 'author.organization.size', 'parent.rank');
const boolPath = from('ok', 'author.active', 'parent.author.active');
const datePath = from('at', 'created', 'updated', 'parent.at', 'author.organization.created');
const listPath = from('tags', 'parent.tags');
const jsonPath = from('meta', 'meta.a', 'meta.a.b', 'meta.bb', 'parent.meta', 'parent.meta.a');

const requestText = from(
  '@request.auth.id',
  '@request.auth.email:lower',
  '@request.auth.type',
  '@request.auth.collection',
  '@request.method',
);
const requestAny = from(
  '@request.query.q',
  '@request.headers.h',
  '@request.body.title',
  '@request.body.rank',
  '@request.body.ok',
  '@request.body.at',
  '@request.body.tags',
  '@request.body.meta',
  '@request.body.meta.a',
  '@request.body.title:lower',
  '@request.body.id',
);
const requestBool = from(
  '@request.auth.verified',
  '@request.body.title:isset',
  '@request.query.q:isset',
  '@request.headers.none:isset',
  '@request.body.title:changed',
  '@request.body.rank:changed',
  '@request.body.meta:changed',
  '@request.body.tags:changed',
);

type Pair = fc.Arbitrary<readonly [Operand, Operand]>;

/** Pairs that mostly compare, with the column on either side. */
function pairs(withRequest: boolean): Pair {
  const requestOr = (...arbitraries: fc.Arbitrary<Operand>[]) =>
    fc.oneof(...arbitraries, ...(withRequest ? [requestAny] : []));
  const sensible: Pair[] = [
    fc.tuple(textPath, requestOr(text, text, number, textPath, nothing, ...(withRequest ? [requestText] : []))),
    fc.tuple(numberPath, requestOr(number, numberPath, nothing)),
    fc.tuple(boolPath, requestOr(bool, boolPath, nothing, ...(withRequest ? [requestBool] : []))),
    fc.tuple(datePath, requestOr(number, dateText, moment, datePath, numberPath, nothing)),
    fc.tuple(listPath, requestOr(text, textPath, nothing)),
    fc.tuple(jsonPath, requestOr(text, number, bool, nothing, jsonPath, textPath, numberPath, boolPath)),
    fc.tuple(fc.oneof(text, number, bool), fc.oneof(text, number, bool, nothing)),
    ...(withRequest
      ? [
          fc.tuple(requestText, fc.oneof(text, nothing, requestText)),
          fc.tuple(requestBool, fc.oneof(bool, nothing)),
          fc.tuple(requestAny, fc.oneof(text, number, bool, nothing, requestAny, requestText)),
        ]
      : []),
  ];
  return fc.oneof(...sensible).chain(([a, b]) => fc.constantFrom([a, b] as const, [b, a] as const, [a, b] as const));
}

const operator = fc.constantFrom(...operators);
const equation = fc.constantFrom('=' as const, '!=' as const);

/** Lists and null have no order and hold no text. */
const isOrdered = ([left, right]: readonly [Operand, Operand]): boolean =>
  ![left, right].some(
    (side) => side.kind === 'null' || ('segments' in side && side.segments.some((segment) => segment === 'tags')),
  );

/** Expressions over the collection `posts`; a few of them are refused. */
export function expressionArbitrary(withRequest: boolean): fc.Arbitrary<Expression> {
  const comparison = pairs(withRequest)
    .chain((sides) =>
      fc.tuple(
        fc.constant(sides),
        isOrdered(sides) ? operator : fc.oneof({ weight: 9, arbitrary: equation }, { weight: 1, arbitrary: operator }),
      ),
    )
    .map(([[left, right], sign]): Expression => ({ kind: 'comparison', operator: sign, left, right }));
  return fc.letrec<{ expression: Expression; junction: Expression }>((tie) => ({
    junction: fc.record({
      kind: fc.constantFrom('all' as const, 'any' as const),
      items: fc.array(tie('expression'), { minLength: 2, maxLength: 3 }),
    }),
    expression: fc.oneof({ maxDepth: 3, depthSize: 'small' }, comparison, tie('junction')),
  })).expression;
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
    ),
    isDescending: fc.boolean(),
  }),
  { minLength: 1, maxLength: 3 },
);

/** Requests by guests, users and admins, with values of any type under the names that the expressions use. */
export const requestArbitrary: fc.Arbitrary<RequestValues> = fc
  .record({
    method: fc.constantFrom('GET', 'POST'),
    auth: fc.option(
      fc.record({
        id: fc.constantFrom('u0', 'u1', 'o0', 'p1', ''),
        email: fc.constantFrom('A@x.org', ''),
        type: fc.constantFrom('user' as const, 'admin' as const),
        collection: fc.constantFrom('users', 'a'),
        verified: fc.constantFrom(true, false, undefined),
      }),
      { nil: undefined },
    ),
    body: fc.option(
      fc.record(
        {
          title: fc.constantFrom(null, ...texts),
          rank: fc.constantFrom(null, ...numbers),
          ok: fc.constantFrom(null, true, false),
          at: fc.constantFrom(null, ...seconds),
          tags: fc.constantFrom(null, ['a'], ['a', 'A'], []),
          meta: fc.constantFrom(null, ...jsonValues),
          id: fc.constantFrom<unknown>(null, 'p1', 5, true),
        },
        { requiredKeys: [] },
      ),
      { nil: undefined },
    ),
    q: fc.constantFrom(undefined, ...texts, '1', '-5.5', '1e3', '2023-11-14'),
    h: fc.constantFrom(undefined, ...texts),
  })
  .map(({ q, h, ...rest }) => ({
    ...rest,
    query: (name: string) => (name === 'q' ? q : undefined),
    header: (name: string) => (name === 'h' ? h : undefined),
  }));
