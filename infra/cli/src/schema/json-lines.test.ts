import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldTypeNames } from '@recordbus/extensions';
import { fieldTypes } from '@recordbus/schema';
import { readJsonLines } from './json-lines.ts';
import { JsonProblem } from './json-tokens.ts';

test('values are found on their lines, by names, positions and entry names', () => {
  const { value, lineOf } = readJsonLines(
    '{\n "a": [1,\n  {"name": "x",\n   "y": null}],\n "b": {"c": "1:,{}[]\\"\\\\"}, "d": true,\n "e": -1e3 }',
  );
  assert.deepEqual(Object.keys(value as object), ['a', 'b', 'd', 'e']);
  const lines = [[], ['a'], ['a', '0'], ['a', 'x'], ['a', '1', 'y'], ['b', 'c', 'more'], ['d'], ['e']].map(lineOf);
  assert.deepEqual(lines, [1, 2, 2, 3, 4, 5, 5, 6]);
});

test("a text that is not JSON has its error's line, and what is wrong there", () => {
  for (const [text, line, message] of [
    ['', 1, /an end where a value is expected/],
    ['{\n"a": 1\n', 3, /an end where a comma or } is expected/],
    ['{"a":\n 1,\n}\n\n', 3, /} where a member name in double quotes is expected/],
    ['{"a": [\n 1,\n],\n "b": 1\n}\n', 3, /] where a value is expected/],
    ['{\n"a": nul\n}\n', 2, /nul where a value is expected/],
    ['{\n "a": \'x\'\n}\n', 2, /'x' where a value is expected/],
    ['{\n a: 1\n}\n', 2, /a where a member name in double quotes is expected/],
    ['{\n "a" 1\n}\n', 2, /1 where a colon is expected/],
    ['{\n "a": 1\n "b": 2\n}\n', 3, /"b" where a comma or } is expected/],
    ['{\n "a": "x\n}\n', 2, /a text without its closing quote/],
    ['{\n "a": "\\q"\n}\n', 2, /a wrong character/],
    ['{\n "a": 01\n}\n', 2, /01 where a value is expected/],
    ['{}\n// more\n', 2, /\/\/ where the end is expected/],
    ['{}\n\u00a0', 2, /a wrong character/],
    ['{"a": 1,\n "b": {"c": 1,\n "c": 2}}', 3, /has the member "c" twice/],
    [`${'['.repeat(200)}${']'.repeat(200)}`, 1, /more than 100 levels/],
  ] as const)
    assert.throws(
      () => readJsonLines(text),
      (error) => error instanceof JsonProblem && error.line === line && message.test(error.message),
      text,
    );
});

test('a text is read if JSON.parse reads it, and refused if not', () => {
  const parts = ['{', '}', '[', ']', ',', ':', '"a"', '"\\u00e9\x7f"', '1', '-0.5e+3', 'null', ' ', '\n', '.5', '"\t"'];
  const parses = (parse: () => unknown): boolean => {
    try {
      parse();
      return true;
    } catch {
      return false;
    }
  };
  let seed = 1;
  const any = (): string => {
    seed = (seed * 48_271) % 2_147_483_647;
    return parts[seed % parts.length] ?? '';
  };
  for (let round = 0; round < 20_000; round += 1) {
    const text = Array.from({ length: round % 8 }, any).join('');
    assert.equal(
      parses(() => readJsonLines(text)),
      parses(() => JSON.parse(text)),
      JSON.stringify(text),
    );
  }
});

// The runner ends a file that takes minutes, as in quadratic time.
test('a large text is read in linear time', () => {
  const text = JSON.stringify(
    { list: Array.from({ length: 100_000 }, (_, name) => ({ name: `${name}` })) },
    undefined,
    1,
  );
  assert.ok(readJsonLines(text).lineOf(['list', '99999']) > 290_000);
});

test('authors may name every type of field', () => {
  assert.deepEqual([...fieldTypeNames].sort(), [...fieldTypes.keys()].sort());
});
