import { test } from 'node:test';
import { assertReads, testField } from '../../test/test-field.ts';

const nested = (depth: number) => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);

test('any JSON value is stored as its text', () => {
  assertReads(testField('json'), [
    [{ a: [1, null, 'x', false] }, '{"a":[1,null,"x",false]}'],
    ['', '""'],
    [0, '0'],
    [nested(500), JSON.stringify(nested(500))],
  ]);
});

test('values that the database cannot store are refused', () => {
  const text = new Error('must not contain NUL or half a surrogate pair');
  assertReads(testField('json'), [
    ['\0', text],
    [{ a: ['\ud800'] }, text],
    [{ 'k\0': 1 }, text],
    [JSON.parse('[1e999]'), new Error('must not exceed a double')],
    [nested(502), new Error('must not nest more than 500 deep')],
  ]);
});
