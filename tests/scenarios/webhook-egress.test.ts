import assert from 'node:assert/strict';
import { allowLoopback, deliveriesOf, webhooksPath as path } from '../harness/clients/webhook.ts';
import { eventually } from '../harness/eventually.ts';
import { differences, is } from '../harness/matching.ts';
import { type Receiver, startReceiver } from '../harness/servers/receiver.ts';
import { onEachTopology, type Target } from '../harness/stacks/target.ts';

const definition = { name: 'sink', events: ['letters.*'] };

onEachTopology('deliveries do not reach internal addresses', async (t, target) => {
  await using receiver = await startReceiver();
  const admin = await target.admin();
  await admin.patch('/api/v1/admin/settings', { 'hooks.http.allow': '' });
  await admin.post('/api/v1/collections', { name: 'letters', type: 'base', fields: [] });
  await t.test('a loopback address is denied unless it is allowed [webhooks §7.1]', async () => {
    await assertBlocked(target, receiver, receiver.url);
  });
  await t.test('a loopback address in another notation is denied [webhooks §7.2]', async () => {
    const { port } = new URL(receiver.url);
    for (const host of ['localhost', '2130706433', '127.1', '[::1]', '[::ffff:127.0.0.1]', '0.0.0.0'])
      await assertBlocked(target, receiver, `http://${host}:${port}/hook`);
  });
  await t.test('an allowed address receives the delivery [webhooks §7.1]', async () => {
    await allowLoopback(admin);
    const { id } = await admin.post(path, { ...definition, url: receiver.url });
    await admin.create('letters', {});
    await receiver.received(1);
    await admin.delete(`${path}/${id}`);
  });
});

async function assertBlocked(target: Target, receiver: Receiver, url: string): Promise<void> {
  const admin = await target.admin();
  const { id } = await admin.post(path, { ...definition, url });
  await admin.create('letters', {});
  const [delivery] = await eventually(`a delivery to ${url} is dead`, async () => {
    const listed = await deliveriesOf(admin, id, '?status=dead');
    return listed.length > 0 && listed;
  });
  assert.deepEqual(
    differences(delivery, is.containing({ attempt: 0, error: is.matching(/^egress blocked:/), attempts: [] })),
    [],
  );
  assert.equal(receiver.deliveries.length, 0);
  await admin.delete(`${path}/${id}`);
}
