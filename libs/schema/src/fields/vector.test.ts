import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertOptionsRefused, assertReads, narrowingsOf, testField } from '../../test/test-field.ts';

test('a vector has exactly as many finite numbers as dimensions', () => {
  const count = new Error('must have 3 numbers');
  const finite = new Error('must consist of finite numbers');
  assertReads(testField('vector', { dimensions: 3 }), [
    [[1, -0.5, 5e-324], '{1,-0.5,5e-324}'],
    [[0, 0, 1.7976931348623157e308], '{0,0,1.7976931348623157e+308}'],
    [[1, 2], count],
    [[1, 2, 3, 4], count],
    [[], count],
    [[1, 2, '3'], finite],
    [[1, 2, null], finite],
    [[1, 2, true], finite],
    [JSON.parse('[1, 2, 1e999]'), finite],
    ['[1,2,3]', new Error('must be a list of numbers')],
    [{ 0: 1, 1: 2, 2: 3, length: 3 }, new Error('must be a list of numbers')],
  ]);
});

test('dimensions are from 1 to 4096', () => {
  const refused = { dimensions: 'must be a whole number from 1 to 4096' };
  assertOptionsRefused('vector', [
    [{}, refused],
    [{ dimensions: 0 }, refused],
    [{ dimensions: 4097 }, refused],
    [{ dimensions: 1.5 }, refused],
    [{ dimensions: '3' }, refused],
  ]);
});

test('other dimensions conflict with every stored vector', () => {
  assert.deepEqual(narrowingsOf('vector', { dimensions: 3 }, { dimensions: 3 }), []);
  assert.deepEqual(narrowingsOf('vector', { dimensions: 3 }, { dimensions: 2 }), [
    ['dimensions', 'cardinality("f") <> 2'],
  ]);
});
