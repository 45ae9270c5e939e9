import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sharedWriteBudget } from '../connections/connection-budget.ts';
import { createClientShares } from './client-shares.ts';

const { atOnce, perClient, apartMs, maxApart } = sharedWriteBudget;

describe('shares in commits', () => {
  test('are limited for each client and for all, and free again afterwards', () => {
    const shares = createClientShares();
    const take = (client: string, count: number) =>
      Array.from({ length: count }, () => shares.tryEnter(client)).filter(Boolean).length;
    assert.equal(take('a', perClient + 1), perClient);
    assert.equal(take('b', perClient), atOnce - perClient);
    assert.equal(take('c', 1), 0);
    shares.leave('a');
    assert.equal(take('c', 2), 1);
  });

  test('are refused for a while to a client that was kept apart', () => {
    let nowMs = 0;
    const shares = createClientShares(() => nowMs);
    shares.keepApart('a');
    nowMs = apartMs - 1;
    assert.deepEqual([shares.tryEnter('a'), shares.tryEnter('b')], [false, true]);
    nowMs = apartMs;
    assert.equal(shares.tryEnter('a'), true);
  });

  test('remember only so many clients', () => {
    const shares = createClientShares(() => 0);
    for (let n = 0; n <= maxApart; n += 1) shares.keepApart(`${n}`);
    assert.deepEqual([shares.tryEnter('0'), shares.tryEnter('1')], [true, false]);
  });
});
