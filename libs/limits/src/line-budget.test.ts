import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLineBudget } from './line-budget.ts';

test("lines pass up to a minute's budget; after it, the log says how many were omitted", () => {
  let now = 0;
  const reported: number[] = [];
  const mayWrite = createLineBudget(
    3,
    (leftOut) => reported.push(leftOut),
    () => now,
  );
  const ask = (times: number) => Array.from({ length: times }, mayWrite).filter(Boolean).length;
  assert.equal(ask(1000), 3);
  now = 59_999;
  assert.equal(ask(10), 0);
  now = 60_000;
  assert.equal(ask(2), 2);
  assert.deepEqual(reported, [1007]);
  now = 200_000;
  assert.equal(ask(1), 1);
  assert.deepEqual(reported, [1007]);
});
