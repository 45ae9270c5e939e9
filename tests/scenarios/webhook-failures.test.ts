import assert from 'node:assert/strict';
import { openBusReader } from '../harness/clients/bus-reader.ts';
import { createWebhook, deliveriesOf, deliveryIn, webhooksPath as path } from '../harness/clients/webhook.ts';
import { eventually } from '../harness/eventually.ts';
import { at, listAt } from '../harness/json.ts';
import { differences, is } from '../harness/matching.ts';
import { startReceiver } from '../harness/servers/receiver.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

onEachTopology('a webhook whose receiver keeps failing', async (t, target) => {
  await using receiver = await startReceiver();
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'cries', type: 'base', fields: [] });
  const settings = (values: object) => admin.patch('/api/v1/admin/settings', values);
  const statusOf = async (id: unknown) => (await admin.get(`${path}/${id}/status`)).json;
  const failing = { retry_max: 50, retry_backoff: 'fixed' };

  await t.test('is paused with its events kept, and continues when a probe succeeds [webhooks §6.1]', async () => {
    await settings({ 'webhooks.pause_after_seconds': '1', 'webhooks.pause_seconds': '1' });
    const { id } = await createWebhook(admin, receiver.url, ['cries.*'], failing);
    receiver.behave({ status: 500 });
    await admin.create('cries', {});
    await eventually('it is paused', async () => at(await statusOf(id), 'data.state') === 'paused');
    await admin.create('cries', {});
    receiver.behave({ status: 200 });
    await eventually(
      'both events are delivered',
      async () => (await deliveriesOf(admin, id, '?status=success')).length === 2,
    );
    await eventually('it is active again', async () => at(await statusOf(id), 'data.state') === 'active');
    assert.deepEqual(
      differences(await statusOf(id), {
        data: {
          state: 'active',
          failures: 0,
          failing_since: null,
          paused_until: null,
          previous_secret_until: null,
          pending: 0,
          oldest_pending_at: null,
          blocking: null,
          blocked: 0,
        },
      }),
      [],
    );
    await admin.delete(`${path}/${id}`);
  });

  await t.test(
    'is disabled after a time, with an event on the bus, and continues when enabled [webhooks §6.2]',
    async () => {
      await settings({ 'webhooks.pause_after_seconds': '0', 'webhooks.disable_after_seconds': '1' });
      const { id } = await createWebhook(admin, receiver.url, ['cries.*'], failing);
      receiver.behave({ status: 500 });
      await admin.create('cries', {});
      await eventually('it is disabled', async () => at(await statusOf(id), 'data.state') === 'disabled');
      assert.equal(at((await admin.get(`${path}/${id}`)).json, 'data.enabled'), false);
      if (target.natsUrl) {
        await using bus = await openBusReader(target.natsUrl);
        const event = await eventually('the event', () =>
          bus.events.find(
            ({ subject, body }) => subject === 'events.system.webhook.disabled' && at(body, 'data.record.id') === id,
          ),
        );
        assert.deepEqual(
          differences(event.body, {
            id: is.uuid,
            event: 'system.webhook.disabled',
            timestamp: is.now,
            data: {
              record: {
                id,
                name: 'sink',
                url: receiver.url,
                failures: is.number,
                failing_since: is.now,
                reason: 'failing',
              },
            },
            actor: { type: 'system', id: null },
            request_id: null,
          }),
          [],
        );
      }
      receiver.behave({ status: 200 });
      await admin.patch(`${path}/${id}`, { enabled: true });
      await deliveryIn(admin, id, 'success');
      await admin.delete(`${path}/${id}`);
      await settings({
        'webhooks.pause_after_seconds': '',
        'webhooks.pause_seconds': '',
        'webhooks.disable_after_seconds': '',
      });
    },
  );

  await t.test('is disabled when its receiver asks for it, with its deliveries kept [webhooks §3.5]', async () => {
    const { id } = await createWebhook(admin, receiver.url, ['cries.*'], failing);
    const asks = { 'webhook-delivery': 'disable' };
    receiver.behave({ status: 503, headers: asks });
    await admin.create('cries', {});
    await eventually('it is disabled', async () => at(await statusOf(id), 'data.state') === 'disabled');
    const [delivery] = await deliveriesOf(admin, id);
    assert.equal(delivery?.status, 'pending');
    receiver.behave({ status: 200, headers: asks });
    await admin.patch(`${path}/${id}`, { enabled: true });
    await deliveryIn(admin, id, 'success');
    await eventually('it is disabled again', async () => at(await statusOf(id), 'data.state') === 'disabled');
    const audit = listAt((await admin.get('/api/v1/admin/audit?action=webhooks.disable')).json, 'data');
    assert.deepEqual(
      audit.filter(({ target_id }) => target_id === id).map((row) => at(row, 'details.reason')),
      ['asked', 'asked'],
    );
    await admin.delete(`${path}/${id}`);
  });
});
