import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createFairGate } from './fair-gate.ts';

const refuse = (because: string) => new Error(`refused because of ${because}`);
const usual = { width: 2, maxWaiting: 100, maxWaitMs: 60_000, refuse };

/** Creates work that lasts until it is ended, and records the order of starts. */
function createWork() {
  const begun: string[] = [];
  const endings: (() => void)[] = [];
  return {
    begun,
    work: (name: string) => () =>
      new Promise<void>((resolve) => {
        begun.push(name);
        endings.push(resolve);
      }),
    async endNext() {
      endings.shift()?.();
      await new Promise(setImmediate);
    },
  };
}

describe('a fair gate', () => {
  test('lets clients take turns, independent of the length of their queues', async () => {
    const gate = createFairGate(usual);
    const { begun, work, endNext } = createWork();
    const all = ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'c1', 'b2'].map((name) => gate.run(name[0] ?? '', work(name)));
    for (let left = all.length; left > 0; left -= 1) await endNext();
    await Promise.all(all);
    assert.deepEqual(begun, ['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2', 'a5']);
    assert.deepEqual([gate.running, gate.waiting], [0, 0]);
  });

  test('limits a client to its share, and lets others pass its queue', async () => {
    const gate = createFairGate({ ...usual, width: 3, widthPerClient: 1 });
    const { begun, work, endNext } = createWork();
    const all = ['a1', 'a2', 'b1'].map((name) => gate.run(name[0] ?? '', work(name)));
    assert.deepEqual([begun, gate.waiting], [['a1', 'b1'], 1]);
    for (let left = all.length; left > 0; left -= 1) await endNext();
    await Promise.all(all);
    assert.deepEqual(begun, ['a1', 'b1', 'a2']);
  });

  test('refuses work beyond its limits, and names the client or all clients as the cause', async () => {
    const gate = createFairGate({ ...usual, widthPerClient: 1, maxWaiting: 3, maxWaitingPerClient: 1 });
    const { work, endNext } = createWork();
    const all = ['a1', 'a2', 'b1', 'b2', 'c1'].map((name) => gate.run(name[0] ?? '', work(name)));
    await assert.rejects(gate.run('a', work('a3')), /because of client/);
    await assert.rejects(gate.run('d', work('d1')), /because of all/);
    for (let left = all.length; left > 0; left -= 1) await endNext();
    await Promise.all(all);
  });

  test('names a client that has everything as the cause', async () => {
    const gate = createFairGate({ ...usual, maxWaitMs: 1 });
    const leave = [await gate.enter('a'), await gate.enter('a')];
    await assert.rejects(gate.enter('a'), /because of client/);
    await assert.rejects(gate.enter('b'), /because of all/);
    leave[0]?.();
    await gate.enter('b');
    await assert.rejects(gate.enter('a'), /because of all/);
  });

  test('refuses work that has waited too long, and continues', async () => {
    const gate = createFairGate({ ...usual, width: 1, maxWaitMs: 1 });
    const { work, endNext } = createWork();
    const first = gate.run('a', work('a1'));
    await assert.rejects(gate.run('b', work('b1')), /because of all/);
    await assert.rejects(gate.run('a', work('a2')), /because of client/);
    await endNext();
    await first;
    assert.deepEqual([gate.running, gate.waiting], [0, 0]);
    assert.equal(await gate.run('a', async () => 7), 7);
  });

  test('continues after work that failed', async () => {
    const gate = createFairGate({ ...usual, width: 1 });
    await assert.rejects(
      gate.run('a', () => Promise.reject(new Error('no'))),
      /no/,
    );
    assert.equal(await gate.run('a', async () => 7), 7);
  });

  test('admits no work after it narrowed until enough has left, and admits all when it widens', async () => {
    let widthNow = 2;
    const gate = createFairGate({ ...usual, width: 2, widthNow: () => widthNow });
    const [first, second] = [await gate.enter('a'), await gate.enter('b')];
    widthNow = 1;
    const third = gate.enter('c');
    const fourth = gate.enter('d');
    first();
    assert.equal(gate.waiting, 2, 'one still runs');
    widthNow = 2;
    second();
    await Promise.all([third, fourth]);
    assert.equal(gate.running, 2);
  });
});
