import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type CallerRank, createFairGate, namedCaller } from './fair-gate.ts';

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
  test('lets clients take turns, however long their queues are', async () => {
    const gate = createFairGate(usual);
    const { begun, work, endNext } = createWork();
    const all = ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'c1', 'b2'].map((name) =>
      gate.run(namedCaller(name[0] ?? ''), work(name)),
    );
    for (let left = all.length; left > 0; left -= 1) await endNext();
    await Promise.all(all);
    assert.deepEqual(begun, ['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2', 'a5']);
    assert.deepEqual([gate.running, gate.waiting], [0, 0]);
  });

  test('limits a client to its share, and lets others pass its queue', async () => {
    const gate = createFairGate({ ...usual, width: 3, widthPerClient: 1 });
    const { begun, work, endNext } = createWork();
    const all = ['a1', 'a2', 'b1'].map((name) => gate.run(namedCaller(name[0] ?? ''), work(name)));
    assert.deepEqual([begun, gate.waiting], [['a1', 'b1'], 1]);
    for (let left = all.length; left > 0; left -= 1) await endNext();
    await Promise.all(all);
    assert.deepEqual(begun, ['a1', 'b1', 'a2']);
  });

  test('refuses work beyond its limits, and names the client or all clients as the cause', async () => {
    const gate = createFairGate({ ...usual, widthPerClient: 1, maxWaiting: 3, maxWaitingPerClient: 1 });
    const { work, endNext } = createWork();
    const all = ['a1', 'a2', 'b1', 'b2', 'c1'].map((name) => gate.run(namedCaller(name[0] ?? ''), work(name)));
    await assert.rejects(gate.run(namedCaller('a'), work('a3')), /because of client/);
    await assert.rejects(gate.run(namedCaller('d'), work('d1')), /because of all/);
    for (let left = all.length; left > 0; left -= 1) await endNext();
    await Promise.all(all);
  });

  test('names a client that has everything as the cause', async () => {
    const gate = createFairGate({ ...usual, maxWaitMs: 1 });
    const leave = [await gate.enter(namedCaller('a')), await gate.enter(namedCaller('a'))];
    await assert.rejects(gate.enter(namedCaller('a')), /because of client/);
    await assert.rejects(gate.enter(namedCaller('b')), /because of all/);
    leave[0]?.();
    await gate.enter(namedCaller('b'));
    await assert.rejects(gate.enter(namedCaller('a')), /because of all/);
  });

  test('refuses work that has waited too long, and continues', async () => {
    const gate = createFairGate({ ...usual, width: 1, maxWaitMs: 1 });
    const { work, endNext } = createWork();
    const first = gate.run(namedCaller('a'), work('a1'));
    await assert.rejects(gate.run(namedCaller('b'), work('b1')), /because of all/);
    await assert.rejects(gate.run(namedCaller('a'), work('a2')), /because of client/);
    await endNext();
    await first;
    assert.deepEqual([gate.running, gate.waiting], [0, 0]);
    assert.equal(await gate.run(namedCaller('a'), async () => 7), 7);
  });

  test('continues after work that failed', async () => {
    const gate = createFairGate({ ...usual, width: 1 });
    await assert.rejects(
      gate.run(namedCaller('a'), () => Promise.reject(new Error('no'))),
      /no/,
    );
    assert.equal(await gate.run(namedCaller('a'), async () => 7), 7);
  });

  test('admits no work after it narrowed until enough has left, and admits all when it widens', async () => {
    let widthNow = 2;
    const gate = createFairGate({ ...usual, width: 2, widthNow: () => widthNow });
    const [first, second] = [await gate.enter(namedCaller('a')), await gate.enter(namedCaller('b'))];
    widthNow = 1;
    const third = gate.enter(namedCaller('c'));
    const fourth = gate.enter(namedCaller('d'));
    first();
    assert.equal(gate.waiting, 2, 'one still runs');
    widthNow = 2;
    second();
    await Promise.all([third, fourth]);
    assert.equal(gate.running, 2);
  });

  test('gives one turn to a person with many addresses, and one to an address with many accounts', async () => {
    const gate = createFairGate({ ...usual, width: 1 });
    const { begun, work, endNext } = createWork();
    const user = (name: string, address: string) => ({ name, address, rank: 'user' as const });
    const all = [
      gate.run(namedCaller('first'), work('first')),
      ...[1, 2, 3].map((n) => gate.run(user('traveller', `home ${n}`), work(`traveller ${n}`))),
      ...[1, 2, 3].map((n) => gate.run(user(`account ${n}`, 'office'), work(`account ${n}`))),
      gate.run(user('other', 'elsewhere'), work('other')),
    ];
    for (let left = all.length; left > 0; left -= 1) await endNext();
    await Promise.all(all);
    assert.deepEqual(begun.slice(0, 4), ['first', 'traveller 1', 'account 1', 'other']);
  });

  test('limits an address to half the places, whatever its accounts', async () => {
    const gate = createFairGate({ ...usual, width: 4, widthPerClient: 1 });
    const user = (name: string) => ({ name, address: 'office', rank: 'user' as const });
    const entered = ['a', 'b', 'c'].map((name) => gate.tryEnter(user(name)) !== undefined);
    assert.deepEqual(entered, [true, true, false]);
    assert.ok(gate.tryEnter(namedCaller('d')));
  });

  test('keeps places for users and admins, whatever guests and users take', async () => {
    const gate = createFairGate({ ...usual, width: 4, reserved: 1 });
    const enter = (rank: CallerRank, name: string) => gate.tryEnter({ ...namedCaller(name), rank }) !== undefined;
    const of = (rank: CallerRank) => Array.from({ length: 38 }, (_, n) => enter(rank, `${rank} ${n}`));
    const count = (entered: readonly boolean[]) => entered.filter(Boolean).length;
    assert.deepEqual([count(of('guest')), count(of('user')), count(of('admin'))], [2, 1, 1]);
  });

  test('lets admins in first, and users and guests in turn', async () => {
    const gate = createFairGate({ ...usual, width: 1, reserved: 1 });
    const { begun, work, endNext } = createWork();
    const run = (name: string, rank: CallerRank) => gate.run({ ...namedCaller(name), rank }, work(name));
    const guests = Array.from({ length: 8 }, (_, n) => run(`guest ${n}`, 'guest'));
    const all = [...guests, run('user 1', 'user'), run('user 2', 'user'), run('admin', 'admin')];
    for (let left = all.length; left > 0; left -= 1) await endNext();
    await Promise.all(all);
    assert.deepEqual(begun.slice(0, 6), ['guest 0', 'admin', 'user 1', 'guest 1', 'user 2', 'guest 2']);
  });

  test('refuses no user because guests fill the queue', async () => {
    const gate = createFairGate({ ...usual, width: 1, maxWaiting: 2 });
    const { begun, work, endNext } = createWork();
    const run = (name: string, rank: CallerRank) => gate.run({ ...namedCaller(name), rank }, work(name));
    const guests = [1, 2, 3].map((n) => run(`guest ${n}`, 'guest'));
    await assert.rejects(run('guest 4', 'guest'), /because of all/);
    const user = run('user', 'user');
    for (let left = 4; left > 0; left -= 1) await endNext();
    await Promise.all([...guests, user]);
    assert.equal(begun[1], 'user');
  });

  test('says whose place is wanted', async () => {
    const gate = createFairGate({ ...usual, width: 2, widthPerClient: 1 });
    const [a, b] = [namedCaller('a'), namedCaller('b')];
    const [leaveA, leaveB] = [await gate.enter(a), await gate.enter(b)];
    const own = gate.enter(a);
    assert.deepEqual([gate.isWanted(a), gate.isWanted(b)], [false, false], 'a has its share');
    const other = gate.enter({ ...namedCaller('guest'), rank: 'guest' });
    assert.deepEqual([gate.isWanted(a), gate.isWanted(b)], [false, false], 'a guest needs the place of a guest');
    const third = gate.enter(namedCaller('c'));
    assert.deepEqual([gate.isWanted(a), gate.isWanted(b)], [true, true]);
    leaveA();
    leaveB();
    for (const entered of [own, other, third]) (await entered)();
    assert.deepEqual([gate.running, gate.waiting], [0, 0]);
  });
});
