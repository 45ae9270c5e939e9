import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRefusalMerger } from './merge-refusals.ts';

function startMerger(t: test.TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 10_000 });
  const emitted: [string, number][] = [];
  const merger = createRefusalMerger<string>((first, count) => emitted.push([first, count]));
  return { ...merger, emitted, tick: (ms: number) => t.mock.timers.tick(ms) };
}

test("a client's refusals within a second are one entry with their count", (t) => {
  const { add, emitted, tick, waiting } = startMerger(t);
  for (let number = 0; number < 500; number += 1) add('a', () => `a ${number}`);
  add('b', () => 'b 0');
  assert.equal(waiting(), 2);
  tick(999);
  assert.deepEqual(emitted, []);
  tick(1);
  assert.deepEqual(emitted, [
    ['a 0', 500],
    ['b 0', 1],
  ]);
  assert.equal(waiting(), 0);
});

test('each second has its own entry, even when the timer is late', (t) => {
  let now = 10_900;
  const emitted: [string, number][] = [];
  const { add, flush } = createRefusalMerger<string>(
    (first, count) => emitted.push([first, count]),
    () => now,
  );
  add('a', () => 'first');
  now = 11_000;
  add('a', () => 'second');
  add('a', () => 'never described');
  flush();
  flush();
  assert.deepEqual(emitted, [
    ['first', 1],
    ['second', 2],
  ]);
  t.diagnostic('the timers are cleared');
});

test('a flood from a million clients leaves ten thousand entries and one', (t) => {
  const { add, emitted, tick } = startMerger(t);
  for (let number = 0; number < 1_000_000; number += 1) add(`client ${number}`, () => '');
  tick(1000);
  assert.equal(emitted.length, 10_001);
  assert.equal(
    emitted.reduce((sum, [, count]) => sum + count, 0),
    1_000_000,
  );
});
