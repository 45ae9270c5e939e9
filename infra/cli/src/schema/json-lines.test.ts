import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldTypeNames } from '@recordbus/extensions';
import { fieldTypes } from '@recordbus/schema';
import { JsonProblem, readJsonLines } from './json-lines.ts';

test('values are found on their lines, by names, positions and names of entries', () => {
  const { value, lineOf } = readJsonLines(
    '{\n "a": [1,\n  {"name": "x",\n   "y": null}],\n "b": {"c": "1:,{}[]\\"\\\\"}, "d": true,\n "e": -1e3 }',
  );
  assert.deepEqual(Object.keys(value as object), ['a', 'b', 'd', 'e']);
  const lines = [[], ['a'], ['a', '0'], ['a', 'x'], ['a', '1', 'y'], ['b', 'c', 'more'], ['d'], ['e']].map(lineOf);
  assert.deepEqual(lines, [1, 2, 2, 3, 4, 5, 5, 6]);
});

test('a text that is not JSON has the line of its error', () => {
  for (const [text, line] of [
    ['', 1],
    ['{\n"a": 1\n', 3],
    ['{"a":\n 1,\n}', 3],
    ['{\n"a": nul}', 2],
    ['{"a": 1,\n "b": {"c": 1,\n "c": 2}}', 3],
    [`${'['.repeat(200)}${']'.repeat(200)}`, 1],
  ] as const)
    assert.throws(
      () => readJsonLines(text),
      (error) => error instanceof JsonProblem && error.line === line,
      text,
    );
});

test('a large text is read in linear time', () => {
  const text = JSON.stringify(
    { list: Array.from({ length: 100_000 }, (_, name) => ({ name: `${name}` })) },
    undefined,
    1,
  );
  const startedAtMs = performance.now();
  assert.ok(readJsonLines(text).lineOf(['list', '99999']) > 290_000);
  assert.ok(performance.now() - startedAtMs < 10_000);
});

test('authors may name every type of field', () => {
  assert.deepEqual([...fieldTypeNames].sort(), [...fieldTypes.keys()].sort());
});
