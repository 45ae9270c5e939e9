import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertOptionsRefused, assertReads, narrowingsOf, testField } from '../../test/test-field.ts';

test('HTML is stored unchanged', () => {
  assertReads(testField('editor', { max: 8 }), [
    ['', ''],
    ['<b>😀</b>', '<b>😀</b>'],
    ['<b>xx</b>', new Error('must have at most 8 characters')],
    ['\0', new Error('must not contain NUL or half a surrogate pair')],
    [5, new Error('must be a string')],
  ]);
  assert.deepEqual(narrowingsOf('editor', {}, { max: 9 }), [['max', 'char_length("f") > 9']]);
  assertOptionsRefused('editor', [[{ max: 0 }, { max: 'must be at least 1' }]]);
});
