import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertOptionsRefused, assertReads, narrowingsOf, testField } from '../../test/test-field.ts';
import { fieldTypeOf } from './index.ts';

const values = ['open', 'done'];

test('a single choice is one of the values', () => {
  const refusal = new Error('must be one of open, done');
  assertReads(testField('select', { values }), [
    ['open', 'open'],
    ['Open', refusal],
    [['open'], refusal],
    [1, refusal],
    [{}, refusal],
  ]);
});

test('a multiple choice has several values, each once', () => {
  const refusal = new Error('must be one of open, done');
  assertReads(testField('select', { values, multiple: true }), [
    [[], '[]'],
    [['done', 'open', 'done'], '["done","open"]'],
    [['open', 'closed'], refusal],
    [['open', null], refusal],
    ['open', new Error('must be a list')],
  ]);
});

test('a refusal names only the first of many values', () => {
  const many = Array.from({ length: 10_000 }, (_, index) => `value ${10_000 + index}`);
  // Each takes 13 of the 500 characters, with the comma.
  const refused = new Error(`must be one of ${[...many.slice(0, 38), '…'].join(', ')} (10000 values)`);
  assertReads(testField('select', { values: many }), [['none', refused]]);
});

test('an empty value list rejects every value [fields §3.8]', () => {
  const field = testField('select', { values: [] });
  assertReads(field, [['open', new Error('has no value to choose from')]]);
});

test('values are required, and are texts that can be stored', () => {
  const notText = 'must not contain NUL or half a surrogate pair';
  assertOptionsRefused('select', [
    [{}, { values: 'must be a list of the values to choose from' }],
    [{ values: 'open' }, { values: 'must be a list of the values to choose from' }],
    [{ values: ['a', 1] }, { 'values.1': 'must be a string' }],
    [{ values: [''] }, { 'values.0': 'must not be empty' }],
    [{ values: ['\0', '\ud800'] }, { 'values.0': notText, 'values.1': notText }],
    [{ values, multiple: 'yes' }, { multiple: 'must be true or false' }],
  ]);
});

test('the column is text, or a list in JSON', () => {
  const [one, several] = [testField('select', { values }), testField('select', { values, multiple: true })];
  assert.deepEqual([fieldTypeOf(one).columnType(one), fieldTypeOf(several).columnType(several)], ['text', 'jsonb']);
});

test('fewer values, and one instead of several, are checked against the rows', () => {
  assert.deepEqual(narrowingsOf('select', { values: ['a', "o'b"] }, { values: ["o'b"] }), [
    ['values', `"f" not in ('o''b')`],
  ]);
  assert.deepEqual(narrowingsOf('select', { values }, { values: [] }), [['values', '"f" is not null']]);
  assert.deepEqual(narrowingsOf('select', { values }, { values: [...values, 'more'] }), []);
  assert.deepEqual(narrowingsOf('select', { values, multiple: true }, { values: ["o'b"] }), [
    ['multiple', 'jsonb_array_length("f") > 1'],
    ['values', `not "f" <@ '["o''b"]'::jsonb`],
  ]);
});
