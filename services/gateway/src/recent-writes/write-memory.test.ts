import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWriteMemory } from './write-memory.ts';

test("keeps a client's latest state for a while", () => {
  let now = 0;
  const memory = createWriteMemory({ forMs: 10, nowMs: () => now });
  memory.note('a', '2');
  now = 5;
  memory.note('a', '1');
  now = 14;
  assert.deepEqual([memory.stateOf('a'), memory.stateOf('b')], ['2', undefined]);
  now = 15;
  assert.equal(memory.stateOf('a'), undefined);
});

test("with too many clients, everyone needs the oldest one's state", () => {
  let now = 0;
  const memory = createWriteMemory({ forMs: 10, nowMs: () => now, maxClients: 2 });
  memory.note('a', 'c');
  memory.note('b', 'b');
  memory.note('c', 'a');
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].map((client) => memory.stateOf(client)),
    ['c', 'c', 'c', 'c'],
  );
  now = 10;
  assert.equal(memory.stateOf('d'), undefined);
});
