import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { eventually } from '@recordbus/testing';
import type { Database } from './database.ts';
import { newId } from './id.ts';
import { createPartitionLeases, type PartitionLeases } from './partition-leases.ts';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from './temporary-database.ts';

describe('partition leases', { skip: skipWithoutDatabase }, () => {
  let temporary: OpenTemporaryDatabase;
  let database: Database;
  let name: string;
  let open: PartitionLeases[];

  before(async () => {
    temporary = await openTemporaryDatabase();
    database = temporary.database;
  });
  beforeEach(() => {
    name = `work ${newId()}`;
    open = [];
  });
  afterEach(async () => {
    await Promise.all(open.map((leases) => leases.release()));
  });
  after(() => temporary.remove());

  function join(lifetimeMs = 60_000): PartitionLeases {
    const leases = createPartitionLeases(database, { name, partitions: 8, lifetimeMs });
    open.push(leases);
    return leases;
  }

  /** Renews until nothing changes, and checks that no partition has two holders at any moment. */
  async function settle(...members: PartitionLeases[]): Promise<number[]> {
    for (let round = 0; round < 4; round += 1) {
      for (const member of members) await member.renew();
      const held = members.flatMap((member) => member.held);
      assert.equal(new Set(held).size, held.length, 'a partition has two holders');
    }
    assert.deepEqual(members.flatMap((member) => member.held).sort(), [0, 1, 2, 3, 4, 5, 6, 7]);
    return members.map((member) => member.held.length);
  }

  /** Does so again if a short lease has ended meanwhile, as it does on a busy machine. */
  const settleInTime = (...members: PartitionLeases[]) => eventually(() => settle(...members));

  it('the only process holds all partitions at once', async () => {
    const only = join();
    assert.deepEqual(only.held, []);
    assert.deepEqual(await only.renew(), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert.deepEqual(await only.renew(), []);
    assert.equal(only.members, 1);
  });

  it('processes that join get a fair share, and keep what they hold', async () => {
    const [one, two, three] = [join(), join(), join()];
    await settle(one);
    assert.deepEqual(await settle(one, two), [4, 4]);
    const before = one.held;
    const shares = await settle(one, two, three);
    assert.deepEqual([...shares].sort(), [2, 3, 3]);
    assert.ok(one.held.every((partition) => before.includes(partition)));
    assert.equal(two.members, 3);
  });

  it('processes that start together get fair shares too', async () => {
    const members = Array.from({ length: 5 }, () => join());
    for (let round = 0; round < 4; round += 1) {
      await Promise.all(members.map((member) => member.renew()));
      const held = members.flatMap((member) => member.held);
      assert.equal(new Set(held).size, held.length, 'a partition has two holders');
    }
    assert.ok(members.every((member) => member.held.length <= 2));
    await settle(...members);
  });

  it('with more processes than partitions, some hold none', async () => {
    const members = Array.from({ length: 10 }, () => join());
    const shares = await settle(...members);
    assert.ok(shares.every((share) => share <= 1));
  });

  it('a process that stops or dies leaves its partitions to the others', async () => {
    const [stopping, dying, staying] = [join(), join(1000), join()];
    await settleInTime(stopping, dying, staying);
    await stopping.release();
    assert.deepEqual(stopping.held, []);
    await settleInTime(dying, staying);
    await eventually(async () => {
      await staying.renew();
      assert.ok(dying.held.every((partition) => !staying.held.includes(partition)));
      return staying.held.length === 8;
    });
  });

  it('a process that was frozen holds nothing, and joins again', async () => {
    const [frozen, other] = [join(600), join()];
    await settleInTime(frozen, other);
    await eventually(async () => frozen.held.length === 0);
    await eventually(async () => {
      await other.renew();
      return other.held.length === 8;
    });
    await settle(frozen, other).catch(() => {});
    await eventually(async () => {
      await frozen.renew();
      await other.renew();
      return other.held.length === 4;
    });
  });

  it("dead processes' memberships are removed", async () => {
    const dead = join();
    await dead.renew();
    await database.query({
      text: `update system.leases set expires_at = now() - interval '2 hours' where name = $1`,
      values: [dead.member],
    });
    await join().renew();
    const left = await database.query({ text: 'select from system.leases where name = $1', values: [dead.member] });
    assert.equal(left.length, 0);
  });
});
