import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createQueue } from './queue.ts';

test('a queue returns its items in order, however they come and go', () => {
  const queue = createQueue<number>();
  let [pushed, taken] = [0, 0];
  for (let round = 0; round < 200; round += 1) {
    for (let n = 0; n < 50; n += 1) {
      queue.push(pushed);
      pushed += 1;
    }
    for (let n = 0; n < (round % 2 === 0 ? 20 : 70); n += 1) {
      assert.equal(queue.shift(), taken);
      taken += 1;
    }
  }
  while (taken < pushed) {
    assert.equal(queue.shift(), taken);
    taken += 1;
  }
  assert.equal(queue.shift(), undefined);
});
