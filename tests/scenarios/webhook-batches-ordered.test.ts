import assert from 'node:assert/strict';
import { deliveriesOf, webhooksPath as path } from '../harness/clients/webhook.ts';
import { eventually } from '../harness/eventually.ts';
import { at, objectAt } from '../harness/json.ts';
import { startReceiver } from '../harness/servers/receiver.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { longMs, numbersOf, prepareBatches } from './batched-deliveries.ts';

onEachTopology('batches of ordered deliveries, and of owners [webhooks §2.11]', async (t, target) => {
  await using receiver = await startReceiver();
  const { admin, webhook, create, since, allIn } = await prepareBatches(target, receiver, 'pieces');

  await t.test("with an order one has a record's next deliveries, and blocks as a whole", async (t) => {
    const { id } = await webhook(
      t,
      { max: 3, wait_ms: longMs },
      { ordering: 'record', retry_max: 0, timeout_ms: 60_000 },
    );
    receiver.behave('hang');
    const from = receiver.deliveries.length;
    const record = await admin.create('pieces', { n: 0 });
    const write = async (...numbers: number[]): Promise<void> => {
      for (const n of numbers) await admin.patch(`/api/v1/pieces/${record.id}`, { n });
    };
    await write(1, 2);
    await receiver.received(from + 1);
    await write(3, 4, 5, 6);
    await allIn(id, 'pending', 7);
    assert.deepEqual(since(from).map(numbersOf), [[0, 1, 2]], 'one batch of a record is in progress');
    receiver.behave({ status: 500 });
    receiver.release();
    const status = await eventually('a batch blocks', async () => {
      const found = objectAt((await admin.get(`${path}/${id}/status`)).json, 'data');
      assert.notEqual(found.blocking, null);
      return found;
    });
    assert.deepEqual([status.blocked, status.pending, at(status, 'blocking.key')], [3, 1, record.id]);
    const dead = await allIn(id, 'dead', 3);
    assert.ok(dead.some((one) => one.id === at(status, 'blocking.delivery_id')));
    receiver.behave({ status: 200 });
    await admin.post(`${path}/${id}/unblock`, { action: 'retry' }, 200);
    await allIn(id, 'success', 6);
    await write(7, 8);
    await allIn(id, 'success', 9);
    assert.deepEqual(since(from).map(numbersOf), [
      [0, 1, 2],
      [3, 4, 5],
      [3, 4, 5],
      [6, 7, 8],
    ]);
    assert.equal(since(from)[1]?.headers['webhook-id'], since(from)[2]?.headers['webhook-id']);
  });

  await t.test('a skipped block gives its batch up', async (t) => {
    const { id } = await webhook(t, { max: 2, wait_ms: longMs }, { ordering: 'all', retry_max: 0 });
    const from = receiver.deliveries.length;
    receiver.behave({ status: 500 });
    await create(0, 1);
    await allIn(id, 'dead', 2);
    await create(2, 3);
    receiver.behave({ status: 200 });
    await admin.post(`${path}/${id}/unblock`, { action: 'skip' }, 200);
    await allIn(id, 'success', 2);
    assert.deepEqual(since(from).map(numbersOf), [
      [0, 1],
      [2, 3],
    ]);
    receiver.behave({ status: 500 });
    await create(4, 5);
    await allIn(id, 'dead', 4);
    receiver.behave({ status: 200 });
    await admin.patch(`${path}/${id}`, { on_failure: 'skip' });
    await create(6, 7);
    await allIn(id, 'success', 4);
    assert.deepEqual(since(from).map(numbersOf).slice(2), [
      [4, 5],
      [6, 7],
    ]);
  });

  await t.test("an owner's batch has what the owner may read", async (t) => {
    await admin.post('/api/v1/collections', { name: 'buyers', fields: [] });
    await admin.patch('/api/v1/collections/pieces', { webhook_rule: 'n > 0' });
    await admin.patch('/api/v1/admin/settings', {
      'webhooks.owners.buyers': JSON.stringify({ hosts: [new URL(receiver.url).origin] }),
    });
    const { id: buyer } = await admin.create('buyers', {});
    const from = receiver.deliveries.length;
    const { id } = await webhook(
      t,
      { max: 3, wait_ms: longMs },
      { ordering: 'all', owner: { collection: 'buyers', id: buyer } },
    );
    await create(1, 0, 2);
    await eventually('two wait', async () => {
      assert.equal((await deliveriesOf(admin, id, '?status=pending')).length, 2);
      return true;
    });
    // The first one is no longer admitted, the second one is.
    await admin.patch('/api/v1/collections/pieces', { webhook_rule: 'n > 1' });
    await create(3);
    await allIn(id, 'success', 2);
    assert.deepEqual(since(from).flatMap(numbersOf), [2, 3]);
  });
});
