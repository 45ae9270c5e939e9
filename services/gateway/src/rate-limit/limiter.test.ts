import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { RateRule } from '@recordbus/settings';
import { createLimiter, type Limiter } from './limiter.ts';
import { createOwnWindows, type RateWindows } from './rate-windows.ts';

const ruleOf = (max: number, action?: RateRule['action']): RateRule => ({
  label: 'test',
  path: '*',
  action,
  max,
  windowMs: 1000,
  audience: 'all',
});

/** Creates replicas on one set of counters that answer asynchronously, like a database. */
function replicas(count: number) {
  let nowMs = 1000;
  let takes = 0;
  const own = createOwnWindows(() => nowMs);
  const shared: RateWindows = {
    async take(...args) {
      takes += 1;
      await setImmediate();
      return own.take(...args);
    },
  };
  return {
    limiters: Array.from({ length: count }, () => createLimiter(shared, () => nowMs)),
    takes: () => takes,
    pass(ms: number) {
      nowMs += ms;
    },
  };
}

const countAllowed = async (limiters: readonly Limiter[], rule: RateRule, requests: number): Promise<number> => {
  const verdicts = await Promise.all(
    Array.from({ length: requests }, (_, index) => limiters[index % limiters.length]?.count(rule, 'ann')),
  );
  return verdicts.filter((verdict) => verdict?.allowed).length;
};

describe('a limit over replicas [http §8.10]', () => {
  test('is exact for auth and for small limits, at any concurrency', async () => {
    for (const rule of [ruleOf(10, 'auth'), ruleOf(300, 'auth'), ruleOf(1), ruleOf(39)]) {
      for (const count of [1, 2, 5])
        assert.equal(await countAllowed(replicas(count).limiters, rule, rule.max * 3), rule.max, `${rule.max}`);
    }
  });

  test('is never exceeded for other rules, and fully used when all replicas are busy', async () => {
    for (const max of [40, 60, 300]) {
      for (const count of [1, 2, 5])
        assert.equal(await countAllowed(replicas(count).limiters, ruleOf(max), max * 3), max);
    }
  });

  test('leaves 90% to one replica while the other is almost idle', async () => {
    for (const max of [40, 60, 300]) {
      const [one, other] = replicas(2).limiters;
      assert.ok(one && other);
      const rule = ruleOf(max);
      assert.equal(await countAllowed([other], rule, 2), 2);
      const allowed = await countAllowed([one], rule, max * 2);
      assert.ok(allowed + 2 >= 0.9 * max && allowed + 2 <= max, `${allowed} of ${max}`);
    }
  });

  test('starts again with the next window, on every replica', async () => {
    const { limiters, pass } = replicas(2);
    for (const rule of [ruleOf(10, 'auth'), ruleOf(60)]) {
      for (let window = 0; window < 3; window += 1) {
        assert.equal(await countAllowed(limiters, rule, rule.max * 2), rule.max);
        pass(rule.windowMs);
      }
    }
  });

  test('counts each caller separately, and starts again when the rule changes', async () => {
    const { limiters } = replicas(1);
    const [limiter] = limiters;
    assert.equal(await countAllowed(limiters, ruleOf(3), 5), 3);
    assert.equal((await limiter?.count(ruleOf(3), 'bob'))?.allowed, true);
    assert.equal(await countAllowed(limiters, ruleOf(4), 5), 4);
  });

  test('calls the shared counter rarely, and never for refused requests', async () => {
    const { limiters, takes } = replicas(1);
    await countAllowed(limiters, ruleOf(300), 300);
    assert.ok(takes() <= 25, `${takes()} calls`);
    const before = takes();
    await countAllowed(limiters, ruleOf(300), 1000);
    assert.ok(takes() - before <= 1);
  });

  test('returns the remaining requests and when the window ends', async () => {
    const { limiters, pass } = replicas(1);
    const [limiter] = limiters;
    assert.ok(limiter);
    for (const rule of [ruleOf(2), ruleOf(2, 'auth')]) {
      assert.deepEqual(await limiter.count(rule, 'ann'), { allowed: true, limit: 2, remaining: 1, resetSec: 1 });
      assert.deepEqual(await limiter.count(rule, 'ann'), { allowed: true, limit: 2, remaining: 0, resetSec: 1 });
      assert.deepEqual(await limiter.count(rule, 'ann'), { allowed: false, limit: 2, remaining: 0, resetSec: 1 });
      pass(1000);
    }
    const minute = { ...ruleOf(100), windowMs: 60_000 };
    const left: number[] = [];
    for (let request = 0; request < 100; request += 1) left.push((await limiter.count(minute, 'ann')).remaining);
    assert.deepEqual(
      left,
      Array.from({ length: 100 }, (_, index) => 99 - index),
    );
    pass(30_500);
    assert.deepEqual(await limiter.count(minute, 'ann'), { allowed: false, limit: 100, remaining: 0, resetSec: 30 });
  });
});
