import assert from 'node:assert/strict';
import { createWebhook, deliveriesOf, deliveryIn, webhooksPath as path } from '../harness/clients/webhook.ts';
import { startReceiver } from '../harness/servers/receiver.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

onEachTopology('a webhook keeps no payload in its log [webhooks §2.9]', async (t, target) => {
  await using receiver = await startReceiver();
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'letters', fields: [{ name: 'text', type: 'text' }] });
  const { id } = await createWebhook(admin, receiver.url, ['letters.*'], { payload_days: 0, retry_delay_ms: 60_000 });

  await t.test('a delivery has its payload while it waits', async () => {
    receiver.behave({ status: 500 });
    await admin.create('letters', { text: 'first' });
    await receiver.received(1);
    const [delivery] = await deliveriesOf(admin, id);
    assert.match(JSON.stringify(delivery?.payload), /first/);
    await admin.delete(`${path}/${id}`);
  });

  await t.test('and none after it has ended', async () => {
    receiver.behave({ status: 200 });
    const { id } = await createWebhook(admin, receiver.url, ['letters.*'], { payload_days: 0 });
    await admin.create('letters', { text: 'second' });
    const { payload, id: deliveryId } = await deliveryIn(admin, id, 'success');
    assert.equal(payload, null);
    assert.match(receiver.deliveries.at(-1)?.text ?? '', /second/);
    await admin.patch(`${path}/${id}`, { payload_days: 1 });
    const { json } = await admin.get(`${path}/${id}/deliveries/${deliveryId}`);
    assert.match(JSON.stringify(json), /second/, 'it was not dropped yet');
  });
});
