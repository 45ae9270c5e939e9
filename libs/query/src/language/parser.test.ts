import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { anyCharacter } from '@recordbus/testing/random';
import fc from 'fast-check';
import { print } from '../../test/print.ts';
import { anyExpression } from '../../test/syntax-arbitrary.ts';
import { QueryError } from '../query-error.ts';
import type { Expression } from './ast.ts';
import { parse } from './parser.ts';

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
    ['takes single quotes', `a = 'x"\\'\\"'`, String.raw`a = "x\"'\\\""`],
    ['leaves out comments', '// first\na = 1 // "\n// last', 'a = 1'],
    ['takes not', 'not(a=1||not (b=2))', 'not (a = 1 || not (b = 2))'],
    [
      'takes not before other words',
      'not exists(c, a = 1) && not all(a=1)',
      'not (exists(c, a = 1)) && not (all(a = 1))',
    ],
    ['takes in', 'a in("x",1,@now) && "x" in b.c && a in @request.auth.teams', ''],
    ['takes all and none', 'all(a.b!="x")&&none(a in ("x"))', 'all(a.b != "x") && none(a in ("x"))'],
    ['takes exists', 'exists(m,user=@request.auth.id&&exists(n,record.record.id=a))', ''],
    ['takes count and length', 'count(c_via_p)>=1 && 2 < count(@request.auth.teams) && a:length = 3', ''],
    ['takes distances', 'distance(place,48.2,-16.37)<5', 'distance(place, 48.2, -16.37) < 5'],
    ['takes shifts', 'a > @now-7d && a < @monthEnd+2h', 'a > @now-604800s && a < @monthEnd+7200s'],
    ['takes words as fields', 'not = in && in in (exists) && count = all && none != distance', ''],
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
    ['a string with two kinds of quotes', `a = 'x"`, /without its closing ' \(character 5\)/, 4],
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
    ['an unknown macro', 'a = @someday', /unknown @someday/, 4],
    ['a shift without a unit', 'a = @now-7', /expected && or \|\|, found "-7"/, 8],
    ['an unknown unit', 'a = @now-7y', /unknown time unit y/, 4],
    ['a shift of a value of the request', 'a = @request-7d', /unknown @request-7d/, 4],
    ['a shift that is too large', 'a = @now+999999999999w', /the shift is too large/, 4],
    ['not without parentheses', 'not a = 1', /expected a comparison, found "a"/, 4],
    ['in without values', 'a in ()', /expected a field or a value, found "\)"/, 6],
    ['in with a single value', 'a in "x"', /in takes values in parentheses, or a path/, 5],
    ['items without a comma', 'a in ("x" "y")', /expected , or \)/, 10],
    ['an unknown function', 'sum(a) = 1', /unknown function sum/, 0],
    ['a junction within all', 'all(a = 1 && b = 1)', /expected \), found "&&"/, 10],
    ['count of a value', 'count("x") > 1', /count takes a path/, 6],
    ['exists without a condition', 'exists(posts)', /expected ,/, 12],
    ['exists of a path', 'exists(a.b, c = 1) = 1', /expected && or \|\|/, 19],
    ['a distance from a latitude beyond a pole', 'distance(a, 91, 0) < 1', /must be from -90 to 90 degrees/, 12],
    ['a distance from a field', 'distance(a, b, 0) < 1', /expected degrees/, 12],
    ['a distance of a value', 'distance("a", 1, 0) < 1', /distance takes a field/, 9],
    ['a bare @', 'a = @', /unexpected "@"/, 4],
    ['a single slash', 'a = 1 / x', /unexpected "\/"/, 6],
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
    ['1,000 items', `a in (${Array(1000).fill(1)})`, `a in (${Array(1001).fill(1)})`, /more than 1000 values/],
    [
      '1,000 items of several lists',
      `a in (${Array(500).fill(1)}) || b in (${Array(500).fill(1)})`,
      `a in (${Array(500).fill(1)}) || b in (${Array(501).fill(1)})`,
      /more than 1000 values/,
    ],
    [
      '200 comparisons with items that are not literals',
      `a in (${Array(199).fill('@now')})`,
      `a in (${Array(200).fill('@now')})`,
      /more than 200 comparisons/,
    ],
    [
      '4,000 characters beside the items',
      `a in (${Array(1000).fill(`"${'x'.repeat(36)}"`)}) && ${padded('x', 3980)}`,
      `a in (${Array(1000).fill(`"${'x'.repeat(36)}"`)}) && ${padded('x', 4000)}`,
      /at most 4000 characters/,
    ],
    [
      '65,536 characters with the items',
      `a in ("${'x'.repeat(65_536 - 9)}")`,
      `a in ("${'x'.repeat(65_536 - 8)}")`,
      /at most 65536 characters/,
    ],
    ['3 exists', related(3), related(4), /exists nests more than 3 deep/],
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
      { numRuns: 500, seed: 1 },
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
      ',',
      "'",
      '//',
      'not ',
      ' in ',
      'all(',
      'exists(a, ',
      'count(',
      'distance(a, 1, 2)',
      '@now-1d',
    ];
    const soup = fc.array(fc.constantFrom(...pieces), { maxLength: 30 }).map((list) => list.join(''));
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: anyCharacter }), fc.string(), soup), (text) => {
        try {
          const parsed = parse(text);
          assert.deepEqual(withoutPositions(parse(print(parsed))), withoutPositions(parsed));
        } catch (error) {
          assert.ok(error instanceof QueryError, String(error));
          assert.ok(error.position >= 0 && error.position <= text.length);
        }
      }),
      { numRuns: 5000, seed: 1 },
    );
  });
});

function repeat(term: string, count: number): string {
  return Array.from({ length: count }, () => term).join('&&');
}

function nested(depth: number): string {
  return `${'('.repeat(depth)}a = 1${')'.repeat(depth)}`;
}

function related(depth: number): string {
  return `${'exists(c, '.repeat(depth)}a = 1${')'.repeat(depth)}`;
}

/** An expression with the given number of characters. */
function padded(char: string, length: number): string {
  return `a = "${char.repeat(length - 'a = ""'.length)}"`;
}

/** The expression as plain data, each position 0. */
const withoutPositions = (expression: Expression): unknown =>
  JSON.parse(JSON.stringify(expression, (key, value) => (key === 'position' ? 0 : value)));
