import assert from 'node:assert/strict';
import { createWebhook, deliveriesOf, webhooksPath as path } from '../harness/clients/webhook.ts';
import { eventually } from '../harness/eventually.ts';
import { numberAt } from '../harness/json.ts';
import { refused } from '../harness/refusals.ts';
import { receivedRecordIds, startReceiver } from '../harness/servers/receiver.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

onEachTopology('a replay sends what a webhook never got [webhooks §4.5]', async (t, target) => {
  await using receiver = await startReceiver();
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'replayed_bills', fields: [{ name: 'total', type: 'number' }] });
  const since = Math.floor(Date.now() / 1000) - 60;
  const create = async (total: number) => String((await admin.create('replayed_bills', { total })).id);
  const replay = async (id: unknown, body: object) =>
    numberAt((await admin.send('POST', `${path}/${id}/replay`, { body: { since, ...body } })).json, 'data.count');
  const settled = (id: unknown, count: number) =>
    eventually(`${count} deliveries have ended`, async () => {
      const ended = (await deliveriesOf(admin, id)).filter(({ status }) => status === 'success');
      assert.equal(ended.length, count);
      return true;
    });

  const early = [await create(5), await create(500)];
  const { id } = await createWebhook(admin, receiver.url, ['replayed_bills.create'], { filter: 'record.total > 100' });
  const delivered = await create(700);
  await settled(id, 1);
  await admin.patch(`${path}/${id}`, { enabled: false });
  const whileDisabled = [await create(6), await create(600)];
  await admin.patch(`${path}/${id}`, { enabled: true });

  await t.test('without `missing` only what was delivered is sent again', async () => {
    assert.equal(await replay(id, { dry_run: true }), 1);
  });

  await t.test('with it each event once, delivered before or not', async () => {
    await eventually(
      'the stream has the last event',
      async () => (await replay(id, { dry_run: true, missing: true })) === 3,
    );
    assert.equal((await deliveriesOf(admin, id)).length, 1, 'a dry run sends nothing');
    const from = receiver.deliveries.length;
    assert.equal(await replay(id, { missing: true }), 3);
    await settled(id, 4);
    const ids = receivedRecordIds({ deliveries: receiver.deliveries.slice(from) });
    assert.deepEqual(ids.toSorted(), [delivered, early[1], whileDisabled[1]].toSorted());
  });

  await t.test('a second time nothing is missing', async () => {
    assert.equal(await replay(id, { dry_run: true, missing: true }), 3);
    assert.equal(await replay(id, { missing: true }), 3);
    await settled(id, 7);
  });

  await t.test('another filter finds more', async () => {
    await admin.patch(`${path}/${id}`, { filter: null });
    assert.equal(await replay(id, { dry_run: true, missing: true }), 5);
  });

  await t.test('events after `until` are left out', async () => {
    assert.equal(await replay(id, { dry_run: true, missing: true, until: since + 1 }), 0);
  });

  await t.test('a wrong value is refused', async () => {
    const { status } = await admin.send('POST', `${path}/${id}/replay`, { body: { since, missing: 'yes' } });
    assert.equal(status, refused.naming('missing').status);
  });
});
