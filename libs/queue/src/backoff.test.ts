import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Backoff, doubling, growing, listed } from './backoff.ts';

const firstFive = (backoff: Backoff) => [1, 2, 3, 4, 5].map(backoff);

test('a backoff doubles, grows, or is listed', () => {
  assert.deepEqual(firstFive(doubling(100, 500)), [100, 200, 400, 500, 500]);
  assert.deepEqual(firstFive(growing(2)), [2, 4, 6, 8, 10]);
  assert.deepEqual(firstFive(listed(2, 10, 60)), [2, 10, 60, 60, 60]);
});
