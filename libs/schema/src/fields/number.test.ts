import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertOptionsRefused, assertReads, narrowingsOf, testField } from '../../test/test-field.ts';

test('a number lies within its bounds, inclusive', () => {
  assertReads(testField('number', { min: -1.5, max: 1e6 }), [
    [-1.5, -1.5],
    [0, 0],
    [1e6, 1e6],
    [-1.6, new Error('must be at least -1.5')],
    [1e6 + 1, new Error('must be at most 1000000')],
  ]);
});

test('nothing else is a number', () => {
  const refusal = new Error('must be a number');
  assertReads(testField('number'), [
    ['5', refusal],
    [true, refusal],
    [[1], refusal],
    [{}, refusal],
    [JSON.parse('1e999'), refusal],
    [Number.MAX_VALUE, Number.MAX_VALUE],
    [5e-324, 5e-324],
  ]);
});

test('options are checked', () => {
  assertOptionsRefused('number', [
    [{ min: 3, max: 2 }, { min: 'must not be above max' }],
    [{ min: '3' }, { min: 'must be a number' }],
    [{ max: null }, { max: 'must be a number' }],
  ]);
});

test('narrower bounds are checked against the rows, wider ones are not', () => {
  assert.deepEqual(narrowingsOf('number', {}, { min: -0.5, max: 1e21 }), [
    ['min', `"f" < '-0.5'::double precision`],
    ['max', `"f" > '1e+21'::double precision`],
  ]);
  assert.deepEqual(narrowingsOf('number', { min: 0, max: 10 }, { min: -1, max: 11 }), []);
  assert.deepEqual(narrowingsOf('number', { min: 0, max: 10 }, { unique: true }), []);
});

test('a field for whole numbers refuses fractions, and finds stored ones [fields §3.2]', () => {
  const refusal = new Error('must be a whole number');
  assertReads(testField('number', { integer: true }), [
    [-3, -3],
    [1e300, 1e300],
    [0.5, refusal],
    [1e-300, refusal],
    ['1', new Error('must be a number')],
  ]);
  assert.deepEqual(narrowingsOf('number', {}, { integer: true }), [['integer', '"f" <> trunc("f")']]);
  assert.deepEqual(narrowingsOf('number', { integer: true }, { integer: true }), []);
});
