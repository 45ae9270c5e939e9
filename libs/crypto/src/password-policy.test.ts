import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findPasswordProblem } from './password-policy.ts';

test('twelve characters are enough by default, eleven are not', () => {
  assert.equal(findPasswordProblem('a'.repeat(12)), undefined);
  assert.equal(findPasswordProblem('a'.repeat(11)), 'must have at least 12 characters');
  assert.equal(findPasswordProblem(''), 'must have at least 12 characters');
});

test('a minimum below the floor counts as 8', () => {
  assert.equal(findPasswordProblem('a'.repeat(8), { minLength: 1 }), undefined);
  assert.equal(findPasswordProblem('a'.repeat(7), { minLength: 1 }), 'must have at least 8 characters');
});

test('characters are counted, not UTF-16 units', () => {
  assert.equal(findPasswordProblem('🔑'.repeat(12)), undefined);
  assert.equal(findPasswordProblem('🔑'.repeat(11)), 'must have at least 12 characters');
});

test('a password of more than 1024 bytes is refused', () => {
  assert.equal(findPasswordProblem('a'.repeat(1024)), undefined);
  assert.equal(findPasswordProblem('ä'.repeat(513)), 'must have at most 1024 bytes');
});
