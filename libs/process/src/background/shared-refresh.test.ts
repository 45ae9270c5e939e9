import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSharedRefresh } from './shared-refresh.ts';

/** A read that ends when the test ends it. */
function held() {
  const readings: PromiseWithResolvers<void>[] = [];
  const refresh = createSharedRefresh(() => {
    const reading = Promise.withResolvers<void>();
    readings.push(reading);
    return reading.promise;
  });
  return { readings, refresh };
}
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('callers during a read share the next one, which begins after it', async () => {
  const { readings, refresh } = held();
  const first = refresh.run();
  const late = [refresh.run(), refresh.run()];
  await turn();
  assert.equal(readings.length, 1);
  readings[0]?.resolve();
  await first;
  await turn();
  assert.equal(readings.length, 2);
  readings[1]?.resolve();
  await Promise.all(late);
  assert.equal(readings.length, 2);
});

test('a failed read fails its callers, and the next one still runs', async () => {
  const { readings, refresh } = held();
  const first = refresh.run();
  const late = refresh.run();
  readings[0]?.reject(new Error('away'));
  await assert.rejects(first, /away/);
  await turn();
  readings[1]?.resolve();
  await late;
});

test('a shared refresh is idle when the last read has ended, with or without a failure', async () => {
  const { readings, refresh } = held();
  await refresh.idle();
  const refreshes = [refresh.run(), refresh.run()];
  let isIdle = false;
  const idle = refresh.idle().then(() => {
    isIdle = true;
  });
  readings[0]?.resolve();
  await turn();
  assert.equal(isIdle, false);
  readings[1]?.reject(new Error('away'));
  await Promise.allSettled(refreshes);
  await idle;
});
