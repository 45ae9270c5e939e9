import { test } from 'node:test';
import { assertOptionsRefused, assertReads, testField } from '../../test/test-field.ts';
import { PlainSecret } from '../plain-secret.ts';

test('a password is read as a secret with limited length', () => {
  assertReads(testField('password', { min: 3, max: 4 }), [
    ['😀😀😀', new PlainSecret('😀😀😀', 'password')],
    ['ab', new Error('must have at least 3 characters')],
    ['abcde', new Error('must have at most 4 characters')],
    [12345, new Error('must be a string')],
  ]);
  assertReads(testField('password'), [['x'.repeat(1025), new Error('must have at most 1024 bytes')]]);
  assertOptionsRefused('password', [[{ min: 9, max: 8 }, { min: 'must not be above max' }]]);
});
