import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findPasswordProblem } from './password-policy.ts';

test('the default minimum is 12 characters [auth §2.1]', () => {
  assert.equal(findPasswordProblem('a'.repeat(12)), undefined);
  assert.equal(findPasswordProblem('a'.repeat(11)), 'must have at least 12 characters');
  assert.equal(findPasswordProblem(''), 'must have at least 12 characters');
});

test('a minimum below 8 counts as 8', () => {
  assert.equal(findPasswordProblem('a'.repeat(8), { minLength: 1 }), undefined);
  assert.equal(findPasswordProblem('a'.repeat(7), { minLength: 1 }), 'must have at least 8 characters');
});

test('characters are counted, not UTF-16 units', () => {
  assert.equal(findPasswordProblem('🔑'.repeat(12)), undefined);
  assert.equal(findPasswordProblem('🔑'.repeat(11)), 'must have at least 12 characters');
});

test('a password longer than 1,024 bytes is refused', () => {
  assert.equal(findPasswordProblem('a'.repeat(1024)), undefined);
  assert.equal(findPasswordProblem('ä'.repeat(513)), 'must have at most 1024 bytes');
});

test('each character class can be required', () => {
  const cases = [
    [{ requiresUpper: true }, 'abcdefghijkl', 'abcdefghijkÄ', 'must contain an upper-case letter'],
    [{ requiresLower: true }, 'ABCDEFGHIJKL', 'ABCDEFGHIJKé', 'must contain a lower-case letter'],
    [{ requiresDigit: true }, 'abcdefghijkl', 'abcdefghijk1', 'must contain a digit'],
    [
      { requiresSymbol: true },
      'abcdefghijk1',
      'abcdefghijk ',
      'must contain a character that is neither a letter nor a digit',
    ],
  ] as const;
  for (const [required, bad, good, message] of cases) {
    assert.equal(findPasswordProblem(bad, { minLength: 12, ...required }), message);
    assert.equal(findPasswordProblem(good, { minLength: 12, ...required }), undefined);
  }
});
