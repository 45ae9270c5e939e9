import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createGate } from './gate.ts';

test('work runs in arrival order, never more at once than the width', async () => {
  const gate = createGate({ width: 2, maxWaiting: 100, refusal: 'too much to do' });
  const order: number[] = [];
  let running = 0;
  let most = 0;
  await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      gate.run(async () => {
        order.push(index);
        running += 1;
        most = Math.max(most, running);
        await new Promise(setImmediate);
        running -= 1;
      }),
    ),
  );
  assert.equal(most, 2);
  assert.deepEqual(
    order,
    [...order].sort((a, b) => a - b),
  );
});

test('work that fails frees its slot and throws its error to the caller', async () => {
  const gate = createGate({ width: 1, maxWaiting: 100, refusal: 'too much to do' });
  const failed = gate.run(() => Promise.reject(new Error('no')));
  const next = gate.run(async () => 'done');
  await assert.rejects(failed, /no/);
  assert.equal(await next, 'done');
});

test('work is refused with 503 when the queue is full', async () => {
  const gate = createGate({ width: 1, maxWaiting: 1, refusal: 'too much to do' });
  let finish = () => {};
  const running = gate.run(() => new Promise<void>((resolve) => (finish = resolve)));
  const waiting = gate.run(async () => {});
  await assert.rejects(
    gate.run(async () => {}),
    { status: 503, headers: { 'Retry-After': '1' } },
  );
  finish();
  await Promise.all([running, waiting]);
  await gate.run(async () => {});
});
