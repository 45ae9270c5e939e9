import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOriginSlots } from './origin-slots.ts';

function createTask(name: string, started: string[]) {
  return { run: () => void started.push(name) };
}

const nextTick = () => new Promise((resolve) => process.nextTick(resolve));

test("tasks beyond their origin's limit wait in order", async () => {
  const slots = createOriginSlots(1);
  const started: string[] = [];
  for (const name of ['first', 'second', 'third']) slots.enter('a', createTask(name, started));
  slots.enter('b', createTask('other', started));
  assert.deepEqual(started, ['first', 'other']);
  slots.leave('a');
  await nextTick();
  assert.deepEqual(started, ['first', 'other', 'second']);
});

test('a withdrawn task never runs', async () => {
  const slots = createOriginSlots(1);
  const started: string[] = [];
  const impatient = createTask('impatient', started);
  slots.enter('a', createTask('first', started));
  slots.enter('a', impatient);
  assert.equal(slots.withdraw('a', impatient), true);
  assert.equal(slots.withdraw('a', impatient), false);
  slots.leave('a');
  await nextTick();
  assert.deepEqual(started, ['first']);
});

test('many queued tasks that end immediately do not overflow the stack', async () => {
  const slots = createOriginSlots(1);
  let ended = 0;
  const { promise: allEnded, resolve } = Promise.withResolvers<void>();
  slots.enter('a', { run: () => {} });
  for (let i = 0; i < 50_000; i++) {
    slots.enter('a', {
      run: () => {
        ended++;
        slots.leave('a');
        if (ended === 50_000) resolve();
      },
    });
  }
  slots.leave('a');
  await allEnded;
});
