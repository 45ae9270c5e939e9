import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '@recordbus/errors';
import { createProblems } from './problems.ts';

test('only the beginning of a very long name is shown', () => {
  const problems = createProblems();
  for (let n = 0; n < 2; n += 1) problems.add(`collections.${'x'.repeat(500_000)}.name`, 'is too long');
  assert.throws(problems.throwIfAny, (error: unknown) => {
    assert.ok(error instanceof AppError && error.details);
    const [[place, message] = ['', ''], ...others] = Object.entries(error.details);
    assert.deepEqual([place.length, place.at(-1), message, others], [501, '…', 'is too long', []]);
    return true;
  });
});
