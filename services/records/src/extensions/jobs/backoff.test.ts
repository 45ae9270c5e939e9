import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backoffSec } from './run-job.ts';

const waits = (backoff: Parameters<typeof backoffSec>[0]) =>
  [1, 2, 3, 12, 100].map((failures) => backoffSec(backoff, failures));

test("a job's retries wait as declared", () => {
  assert.deepEqual(waits('exponential'), [2, 4, 8, 3600, 3600]);
  assert.deepEqual(waits(30), [30, 30, 30, 30, 30]);
  assert.deepEqual(waits([10, 60]), [10, 60, 60, 60, 60]);
});
