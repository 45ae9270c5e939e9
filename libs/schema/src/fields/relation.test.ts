import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertOptionsRefused, assertReads, testField } from '../../test/test-field.ts';

test('a relation is a text that can be an id', () => {
  const refusal = new Error('must be the id of a record');
  assertReads(testField('relation', {}, { collection: 'posts' }), [
    ['01890000-0000-7000-8000-000000000000', '01890000-0000-7000-8000-000000000000'],
    ['x'.repeat(255), 'x'.repeat(255)],
    ['x'.repeat(256), refusal],
    ['\0', refusal],
    [1, refusal],
    [['x'], refusal],
    [{ id: 'x' }, refusal],
  ]);
});

test('cascade is one of three, setNull by default [fields §3.9]', () => {
  assert.deepEqual(testField('relation').options, { cascade: 'setNull' });
  assertOptionsRefused('relation', [[{ cascade: 'ignore' }, { cascade: 'must be one of setNull, cascade, restrict' }]]);
});
