import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { print } from '../test/print.ts';
import { type Expression, type Operand, operators } from './ast.ts';
import { parse } from './parser.ts';
import { QueryError } from './query-error.ts';

describe('parse and print', () => {
  const rows: [string, string, string][] = [
    ['binds && tighter than ||', 'a=1||b=2&&c=3', 'a = 1 || b = 2 && c = 3'],
    ['keeps parentheses that matter', '(a=1||b=2)&&c=3', '(a = 1 || b = 2) && c = 3'],
    ['drops those that do not', '(((a = 1)) && (b = 2))', 'a = 1 && b = 2'],
    ['keeps groups of one kind', 'a=1&&(b=2&&c=3)', 'a = 1 && (b = 2 && c = 3)'],
    ['takes any white space', '\t a\n=\r"x y"  ', 'a = "x y"'],
    ['takes operands on either side', '1 < a', '1 < a'],
    ['takes every operator', 'a=1&&a!=1&&a>1&&a>=1&&a<1&&a<=1&&a~1&&a!~1', ''],
    ['reads \\" and \\\\', String.raw`a = "\"\\\""`, ''],
    ['leaves other backslashes', String.raw`a = "\d"`, String.raw`a = "\\d"`],
    ['takes strings over lines', 'a = "x\ny"', ''],
    ['takes negative and decimal numbers as they are written', 'a = -1.50 && a = 007', ''],
    ['takes true, false and null', 'a = true && b != false && c = null', ''],
    ['takes names that begin with these words', 'trueish = nullable', ''],
    ['takes points in time', 'a > @now && a >= @todayStart && a <= @todayEnd', ''],
    ['takes paths and keys', 'author.team.name = meta.a.0', ''],
    ['takes modifiers', 'a:lower = "x"', ''],
    ['takes requests', '@request.auth.id = a && @request.body.x.y:isset = true && @request.headers.x_y = ""', ''],
  ];
  for (const [title, text, printed] of rows)
    it(title, () => assert.equal(print(parse(text)), printed || print(parse(text))));

  for (const [, text] of rows) {
    it(`returns ${JSON.stringify(text)} after printing`, () => {
      assert.deepEqual(withoutPositions(parse(print(parse(text)))), withoutPositions(parse(text)));
    });
  }

  const refused: [string, string, RegExp, number][] = [
    ['nothing', '', /expected a field or a value, found the end \(character 1\)/, 0],
    ['white space alone', '  ', /found the end/, 2],
    ['a bare field', 'active', /expected a comparison, found the end \(character 7\)/, 6],
    ['an open parenthesis', '(a = 1', /expected && , \|\| or \), found the end/, 6],
    ['an additional closing parenthesis', 'a = 1)', /expected && or \|\|, found "\)" \(character 6\)/, 5],
    ['an empty group', '()', /found "\)"/, 1],
    ['groups side by side', '(a = 1)(b = 2)', /expected && or \|\|/, 7],
    ['a group as an operand', '(a) = 1', /expected a comparison/, 2],
    ['==', 'a == 1', /unknown operator == \(character 3\)/, 2],
    ['!', 'a = !b', /unknown operator !/, 4],
    ['a single &', 'a = 1 & b = 2', /unknown operator &/, 6],
    ['&&&', 'a = 1 &&& b = 2', /unknown operator &&&/, 6],
    ['a join at the end', 'a = 1 &&', /found the end/, 8],
    ['single quotes', "a = 'x'", /strings are written in double quotes \(character 5\)/, 4],
    ['a string without its end', 'a = "x', /without its closing " \(character 5\)/, 4],
    ['a string that its escape keeps open', String.raw`a = "\"`, /without its closing/, 4],
    ['an exponent', 'a = 1e5', /unexpected "e" \(character 6\)/, 5],
    ['a number that ends in a point', 'a = 1.', /unexpected "\."/, 5],
    ['a number that begins with a point', 'a = .5', /unexpected "\."/, 4],
    ['a plus sign', 'a = +5', /unexpected "\+"/, 4],
    ['a number beyond a double', `a = 1${'0'.repeat(400)}`, /too large/, 4],
    ['a path that ends in a point', 'a. = 1', /unexpected "\."/, 1],
    ['an empty segment', 'a..b = 1', /unexpected "\."/, 1],
    ['an unknown modifier', 'a:upper = 1', /unknown modifier :upper/, 0],
    ['a modifier of an object', 'a:constructor = 1', /unknown modifier/, 0],
    ['an unknown macro', 'a = @yesterday', /unknown @yesterday/, 4],
    ['a bare @', 'a = @', /unexpected "@"/, 4],
    ['a comment', 'a = 1 // x', /unexpected "\/"/, 6],
    ['a string that runs into a word', 'a = "x"b', /unexpected "b"/, 7],
    ['NUL in a string', 'a = "\0"', /no record can hold/, 4],
    ['half a surrogate pair', 'a = "\ud800"', /no record can hold/, 4],
    ['an emoji outside of a string', 'a = 😀', /unexpected "😀"/, 4],
  ];
  for (const [title, text, message, position] of refused) {
    it(`refuses ${title}`, () =>
      assert.throws(
        () => parse(text),
        (error) => error instanceof QueryError && message.test(error.message) && error.position === position,
      ));
  }

  const limits: [string, string, string, RegExp][] = [
    ['200 comparisons', repeat('a=1', 200), repeat('a=1', 201), /more than 200 comparisons/],
    ['32 parentheses', nested(32), nested(33), /nest more than 32 deep/],
    ['4,000 characters', padded('x', 4000), padded('x', 4001), /at most 4000 characters/],
    ['4,000 characters beyond the first plane', padded('😀', 4000), padded('😀', 4001), /at most 4000 characters/],
  ];
  for (const [title, fits, exceeds, message] of limits) {
    it(`takes ${title} and no more`, () => {
      assert.ok(parse(fits));
      assert.throws(
        () => parse(exceeds),
        (error) => error instanceof QueryError && message.test(error.message),
      );
    });
  }

  it('returns every expression after printing', () => {
    fc.assert(
      fc.property(anyExpression, (expression) => {
        assert.deepEqual(withoutPositions(parse(print(expression))), withoutPositions(expression));
      }),
      { numRuns: 500 },
    );
  });

  it('throws only QueryError, for any text', () => {
    const pieces = [
      'a',
      'b.c',
      '=',
      '!=',
      '~',
      '(',
      ')',
      '&&',
      '||',
      '"',
      '\\',
      '"x"',
      '1',
      '-',
      '.',
      '@',
      ':',
      'null',
      ' ',
    ];
    const soup = fc.array(fc.constantFrom(...pieces), { maxLength: 30 }).map((list) => list.join(''));
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.string(), soup), (text) => {
        try {
          const parsed = parse(text);
          assert.deepEqual(withoutPositions(parse(print(parsed))), withoutPositions(parsed));
        } catch (error) {
          assert.ok(error instanceof QueryError, String(error));
          assert.ok(error.position >= 0 && error.position <= text.length);
        }
      }),
      { numRuns: 5000 },
    );
  });
});

function repeat(term: string, count: number): string {
  return Array.from({ length: count }, () => term).join('&&');
}

function nested(depth: number): string {
  return `${'('.repeat(depth)}a = 1${')'.repeat(depth)}`;
}

/** An expression of the given number of characters. */
function padded(char: string, length: number): string {
  return `a = "${char.repeat(length - 'a = ""'.length)}"`;
}

/** The expression as plain data, each position 0. */
const withoutPositions = (expression: Expression): unknown =>
  JSON.parse(JSON.stringify(expression, (key, value) => (key === 'position' ? 0 : value)));

const name = fc
  .stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,5}$/)
  .filter((word) => !['true', 'false', 'null'].includes(word));
const segments = fc.array(name, { minLength: 1, maxLength: 4 });
const modifier = fc.constantFrom('lower' as const, 'isset' as const, 'changed' as const);
const position = fc.constant(0);

const anyOperand: fc.Arbitrary<Operand> = fc.oneof(
  fc.record({
    kind: fc.constant('text' as const),
    value: fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed() && !text.includes('\0')),
    position,
  }),
  fc.record({
    kind: fc.constant('number' as const),
    digits: fc.stringMatching(/^-?[0-9]{1,9}(\.[0-9]{1,3})?$/),
    position,
  }),
  fc.record({ kind: fc.constant('bool' as const), value: fc.boolean(), position }),
  fc.record({ kind: fc.constant('null' as const), position }),
  fc.record({ kind: fc.constant('moment' as const), name: fc.constantFrom('now', 'todayStart', 'todayEnd'), position }),
  fc.record(
    { kind: fc.constant('path' as const), segments, modifier, position },
    { requiredKeys: ['kind', 'segments', 'position'] },
  ),
  fc.record(
    { kind: fc.constant('request' as const), segments, modifier, position },
    { requiredKeys: ['kind', 'segments', 'position'] },
  ),
);

const { anyExpression } = fc.letrec<{ anyExpression: Expression }>((tie) => ({
  anyExpression: fc.oneof(
    { maxDepth: 5, depthSize: 'small' },
    fc.record({
      kind: fc.constant('comparison' as const),
      operator: fc.constantFrom(...operators),
      left: anyOperand,
      right: anyOperand,
    }),
    fc.record({
      kind: fc.constantFrom('all' as const, 'any' as const),
      items: fc.array(tie('anyExpression'), { minLength: 2, maxLength: 3 }),
    }),
  ),
}));
