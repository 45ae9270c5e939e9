import assert from 'node:assert/strict';
import { test } from 'node:test';
import { doubling, listed } from './backoff.ts';

const failures = [1, 2, 3, 4, 5];

test('waits double, or come from a list', () => {
  assert.deepEqual(
    failures.map((count) => doubling(count, 100, 500)),
    [100, 200, 400, 500, 500],
  );
  assert.deepEqual(
    failures.map((count) => listed(count, [2, 10, 60])),
    [2, 10, 60, 60, 60],
  );
});
