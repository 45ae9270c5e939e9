import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createByteBudget } from './byte-budget.ts';

/** Takes bytes, and notes when they are taken. */
function createTakers(maxBytes: number, maxWaitMs = 60_000) {
  const budget = createByteBudget(maxBytes, maxWaitMs);
  const taken: string[] = [];
  const take = async (name: string, bytes: number) => {
    const free = await budget.take(bytes);
    taken.push(name);
    return free;
  };
  return { budget, taken, take };
}

describe('the decoded byte budget', () => {
  it('is never exceeded, and is handed out in order', async () => {
    const { budget, taken, take } = createTakers(100);
    const first = await take('a', 60);
    const [second, third] = [take('b', 60), take('c', 100)];
    await new Promise(setImmediate);
    assert.deepEqual([taken, budget.usedBytes], [['a'], 60]);
    first();
    first();
    (await second)();
    (await third)();
    assert.deepEqual([taken, budget.usedBytes], [['a', 'b', 'c'], 0]);
  });

  it('lets small work pass work that does not fit, but not for ever', async () => {
    const { taken, take } = createTakers(100);
    const first = await take('first', 60);
    const large = take('large', 100);
    for (let n = 0; n < 8; n += 1) (await take(`small ${n}`, 1))();
    const late = take('late', 1);
    await new Promise(setImmediate);
    assert.equal(taken.length, 9, 'small work has passed eight times');
    first();
    (await large)();
    (await late)();
    assert.deepEqual(taken.slice(-2), ['large', 'late']);
  });

  it('refuses work whose bytes are not free in time, and lets the others continue', async () => {
    const { budget, take } = createTakers(100, 1);
    const first = await take('a', 60);
    await assert.rejects(take('b', 60), { status: 503 });
    first();
    (await take('c', 100))();
    assert.equal(budget.usedBytes, 0);
    assert.throws(() => budget.take(101), RangeError);
  });
});
