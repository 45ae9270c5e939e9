import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '@recordbus/process/logging';
import { eventually } from '@recordbus/testing';
import { createPrimaryLog } from './primary-log.ts';

test('every read needs all writes older than a moment, and all that were committed before the floor was raised', async () => {
  let now = 0;
  let position = { timeline: 1, lsn: 100 };
  const marked: number[] = [];
  const primaryLog = createPrimaryLog({
    ask: async () => position,
    mark: async () => marked.push(position.timeline),
    log: createLogger('test', 'silent'),
    nowMs: () => now,
  });
  const lookAgain = async () => {
    const before = primaryLog.latest;
    primaryLog.raiseFloor();
    assert.equal(primaryLog.floor(), undefined, 'only the primary is right until the end of its log is known');
    await eventually(() => primaryLog.latest !== before && primaryLog.floor() !== undefined);
  };
  assert.equal(primaryLog.floor(), undefined);
  await primaryLog.start();
  try {
    assert.equal(primaryLog.floor()?.lsn, 100);
    position = { timeline: 1, lsn: 200 };
    now = 20_000;
    await lookAgain();
    assert.equal(primaryLog.floor()?.lsn, 200);
    assert.deepEqual([primaryLog.ageOf(100), primaryLog.ageOf(200)], [0, 0]);
    now = 21_000;
    assert.equal(primaryLog.ageOf(150), 1);

    position = { timeline: 2, lsn: 150 };
    await lookAgain();
    assert.deepEqual([primaryLog.floor()?.timeline, primaryLog.floor()?.lsn], [2, 150]);
    assert.deepEqual(marked, [1, 2]);
  } finally {
    await primaryLog.stop();
  }
  now = 60_000;
  assert.equal(primaryLog.floor(), undefined, 'nobody knows what was committed since');
});
