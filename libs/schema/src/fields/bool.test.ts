import { test } from 'node:test';
import { assertReads, testField } from '../../test/test-field.ts';

test('only true and false are accepted', () => {
  const refusal = new Error('must be true or false');
  assertReads(testField('bool'), [
    [true, true],
    [false, false],
    [1, refusal],
    ['true', refusal],
    [[], refusal],
  ]);
});
