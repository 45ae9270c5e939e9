import { anyCharacter } from '@recordbus/testing/random';
import fc from 'fast-check';
import { type Expression, moments, type Operand, operators, type Test } from '../src/language/ast.ts';

const name = fc
  .stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,5}$/)
  .filter((word) => !['true', 'false', 'null', 'in', 'not', 'all', 'none', 'exists'].includes(word));
const segments = fc.array(name, { minLength: 1, maxLength: 4 });
const modifier = fc.constantFrom('lower' as const, 'length' as const, 'isset' as const, 'changed' as const);
const position = fc.constant(0);

const path = fc.record(
  { kind: fc.constant('path' as const), segments, modifier, position },
  { requiredKeys: ['kind', 'segments', 'position'] },
);
const requestPath = fc.record(
  { kind: fc.constant('request' as const), segments, modifier, position },
  { requiredKeys: ['kind', 'segments', 'position'] },
);

const anyOperand: fc.Arbitrary<Operand> = fc.oneof(
  fc.record({
    kind: fc.constant('text' as const),
    value: fc.string({ unit: anyCharacter }).filter((text) => text.isWellFormed() && !text.includes('\0')),
    position,
  }),
  fc.record({
    kind: fc.constant('number' as const),
    digits: fc.stringMatching(/^-?[0-9]{1,9}(\.[0-9]{1,3})?$/),
    position,
  }),
  fc.record({ kind: fc.constant('bool' as const), value: fc.boolean(), position }),
  fc.record({ kind: fc.constant('null' as const), position }),
  fc.record({
    kind: fc.constant('moment' as const),
    name: fc.constantFrom(...moments),
    shiftSec: fc.integer({ min: -1e9, max: 1e9 }),
    position,
  }),
  path,
  requestPath,
  fc.record({ kind: fc.constant('count' as const), of: fc.oneof(path, requestPath), position }),
  fc.record({
    kind: fc.constant('distance' as const),
    of: path,
    lat: fc.integer({ min: -90, max: 90 }),
    lng: fc.integer({ min: -180, max: 180 }),
    position,
  }),
);

const anyTest: fc.Arbitrary<Test> = fc.oneof(
  fc.record({
    kind: fc.constant('comparison' as const),
    operator: fc.constantFrom(...operators),
    left: anyOperand,
    right: anyOperand,
  }),
  fc.record({
    kind: fc.constant('in' as const),
    left: anyOperand,
    among: fc.oneof(path, requestPath, fc.array(anyOperand, { minLength: 1, maxLength: 3 })),
    position,
  }),
);

/** Any expression that the parser may return. */
export const { anyExpression } = fc.letrec<{ anyExpression: Expression }>((tie) => ({
  anyExpression: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    anyTest,
    fc.record({
      kind: fc.constant('quantified' as const),
      quantifier: fc.constantFrom('all' as const, 'none' as const),
      test: anyTest,
      position,
    }),
    fc.record({ kind: fc.constant('not' as const), item: tie('anyExpression') }),
    fc.record({
      kind: fc.constant('exists' as const),
      collection: name,
      condition: tie('anyExpression'),
      position,
    }),
    fc.record({
      kind: fc.constantFrom('all' as const, 'any' as const),
      items: fc.array(tie('anyExpression'), { minLength: 2, maxLength: 3 }),
    }),
  ),
}));
