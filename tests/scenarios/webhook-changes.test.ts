import assert from 'node:assert/strict';
import { Webhook } from 'standardwebhooks';
import { openBusReader } from '../harness/bus-reader.ts';
import type { Client } from '../harness/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at, type JsonObject, numberAt } from '../harness/json.ts';
import { differences, is } from '../harness/matching.ts';
import { type Delivery, type Receiver, startReceiver } from '../harness/receiver.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios } from '../harness/scenario.ts';
import { verifyDelivery } from '../harness/signature.ts';
import { onEachTopology } from '../harness/target.ts';
import { createWebhook, deliveriesOf, deliveryIn, webhooksPath as path } from '../harness/webhook.ts';
import { unknownId } from './blog.ts';

/** A webhook and its only delivery, whose first attempt has begun and is not answered yet. */
interface UnderWay {
  readonly id: string;
  readonly secret: string;
  readonly first: Delivery;
  readonly deliveryId: unknown;
  /** Makes the first attempt fail. */
  fail(): void;
}

async function beginDelivery(admin: Client, receiver: Receiver, collection: string): Promise<UnderWay> {
  const webhook = await createWebhook(admin, receiver.url, [`${collection}.*`]);
  const from = receiver.deliveries.length;
  receiver.behave('hang');
  await admin.create(collection, {});
  const first = (await receiver.received(from + 1))[from];
  assert.ok(first);
  return {
    id: String(webhook.id),
    secret: String(webhook.secret),
    first,
    deliveryId: first.headers['x-service-delivery'],
    fail() {
      receiver.behave({ status: 200 });
      receiver.release({ status: 500 });
    },
  };
}

/** Whether the Standard Webhooks library accepts the delivery with this secret. */
function isSignedWith(secret: string, { headers, text }: Delivery): boolean {
  const trio = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [name, String(headers[name])]);
  try {
    new Webhook(secret).verify(text, Object.fromEntries(trio));
    return true;
  } catch {
    return false;
  }
}

onEachTopology('a webhook changes between two attempts of a delivery', async (t, target) => {
  await using receiver = await startReceiver();
  await using elsewhere = await startReceiver();
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'parcels', type: 'base', fields: [] });
  await admin.post('/api/v1/collections', { name: 'marks', type: 'base', fields: [] });
  await createWebhook(admin, elsewhere.url, ['marks.*']);

  /** Waits for a later event: by then, all deliveries due before have been claimed. */
  async function passMarker(): Promise<void> {
    const from = elsewhere.deliveries.length;
    await admin.create('marks', {});
    await elsewhere.received(from + 1);
  }
  const due = (id: string) =>
    eventually('the next attempt is due', async () => {
      const [delivery] = await deliveriesOf(admin, id);
      return Number(delivery?.attempt) === 1 && Number(delivery?.next_attempt_at) < Date.now() / 1000 - 1;
    });

  await t.test(
    'when its secret is regenerated, both sign the Standard Webhooks header for a while [webhooks §5.5]',
    async () => {
      const { id, secret, deliveryId, fail } = await beginDelivery(admin, receiver, 'parcels');
      const { secret: newSecret } = await admin.post(`${path}/${id}/regenerate-secret`, {}, 200);
      fail();
      await deliveryIn(admin, id, 'success');
      const next = receiver.deliveries.at(-1);
      assert.ok(next);
      assert.equal(next.headers['x-service-delivery'], deliveryId);
      verifyDelivery(next.headers, next.text, String(newSecret));
      assert.deepEqual([isSignedWith(secret, next), isSignedWith(String(newSecret), next)], [true, true]);
      assert.equal(numberAt((await admin.get(`${path}/${id}/status`)).json, 'data.failures'), 0);
      await admin.delete(`${path}/${id}`);
    },
  );

  await t.test('without an overlap the old secret ends at once [webhooks §5.5]', async () => {
    const { id, secret, fail } = await beginDelivery(admin, receiver, 'parcels');
    const webhook = await admin.post(`${path}/${id}/regenerate-secret`, { overlap_seconds: 0 }, 200);
    fail();
    await deliveryIn(admin, id, 'success');
    const next = receiver.deliveries.at(-1);
    assert.ok(next);
    assert.deepEqual([isSignedWith(secret, next), isSignedWith(String(webhook.secret), next)], [false, true]);
    await admin.delete(`${path}/${id}`);
  });

  await t.test('its address and headers apply from the next attempt on [webhooks §1.5]', async () => {
    const { id, first, deliveryId, fail } = await beginDelivery(admin, receiver, 'parcels');
    const from = elsewhere.deliveries.length;
    await admin.patch(`${path}/${id}`, { url: `${elsewhere.url}/moved`, headers: { 'X-Key': 'new' } });
    fail();
    const { attempt } = await deliveryIn(admin, id, 'success');
    const moved = elsewhere.deliveries[from];
    assert.deepEqual(
      [moved?.path, moved?.headers['x-key'], moved?.headers['x-service-delivery'], moved?.text, attempt],
      ['/hook/moved', 'new', deliveryId, first.text, 2],
    );
    await admin.delete(`${path}/${id}`);
  });

  await t.test('its retries apply from the next attempt on [webhooks §1.5]', async () => {
    const { id, fail } = await beginDelivery(admin, receiver, 'parcels');
    await admin.patch(`${path}/${id}`, { retry_max: 1 });
    fail();
    receiver.behave({ status: 500 });
    assert.equal((await deliveryIn(admin, id, 'dead')).attempt, 2);
    await admin.delete(`${path}/${id}`);
  });

  await t.test(
    'while it is disabled its pending deliveries wait; after that they continue [webhooks §1.6]',
    async () => {
      const { id, deliveryId, fail } = await beginDelivery(admin, receiver, 'parcels');
      await admin.patch(`${path}/${id}`, { enabled: false });
      const from = receiver.deliveries.length;
      fail();
      await due(id);
      await passMarker();
      assert.equal(receiver.deliveries.length, from);
      assert.equal((await deliveriesOf(admin, id))[0]?.status, 'pending');
      await admin.patch(`${path}/${id}`, { enabled: true });
      assert.deepEqual(
        differences(await deliveryIn(admin, id, 'success'), is.containing({ id: deliveryId, attempt: 2 })),
        [],
      );
      await admin.delete(`${path}/${id}`);
    },
  );

  await t.test('when it is deleted its deliveries are deleted too [webhooks §1.5]', async () => {
    const { id, deliveryId, fail } = await beginDelivery(admin, receiver, 'parcels');
    await admin.delete(`${path}/${id}`);
    const from = receiver.deliveries.length;
    fail();
    await passMarker();
    assert.equal(receiver.deliveries.length, from);
    assert.equal((await admin.get(`${path}/${id}/deliveries/${deliveryId}`)).status, 404);
  });

  await t.test('Retry-After delays the next attempt [webhooks §2.5]', async () => {
    const { id } = await createWebhook(admin, receiver.url, ['parcels.*']);
    const from = receiver.deliveries.length;
    receiver.behave({ status: 429, headers: { 'Retry-After': '2' } }, { status: 200 });
    await admin.create('parcels', {});
    await deliveryIn(admin, id, 'success');
    const [refusal, next] = receiver.deliveries.slice(from);
    assert.ok(next && refusal && next.atMs - refusal.atMs >= 1990, `${next?.atMs} after ${refusal?.atMs}`);
    await admin.delete(`${path}/${id}`);
  });
});

onEachTopology('deliveries are listed and replayed', async (t, target) => {
  await using receiver = await startReceiver();
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'letters', type: 'base', fields: [] });
  const { id } = await createWebhook(admin, receiver.url, ['letters.*'], { retry_max: 1, retry_backoff: 'fixed' });
  const since = Math.floor(Date.now() / 1000) - 1;
  receiver.behave({ status: 500, body: 'no' });
  await admin.create('letters', {});
  const dead = await deliveryIn(admin, id, 'dead');
  receiver.behave({ status: 200 });
  const { id: letter } = await admin.create('letters', {});
  await admin.delete(`/api/v1/letters/${letter}`);
  await eventually('two are delivered', async () => (await deliveriesOf(admin, id, '?status=success')).length === 2);

  const attempt = { at: is.now, response_code: 500, duration_ms: is.number, error: is.text };
  const list = (query: string, ...events: readonly string[]) => ({
    as: 'admin' as const,
    request: `GET ${path}/${id}/deliveries${query}`,
    expect: {
      status: 200,
      json: is.containing({ data: events.map((event) => is.containing({ event })) }),
    },
    spec: 'webhooks §4.1',
  });
  await runScenarios(t, target, [
    { name: 'all deliveries, newest first', ...list('', 'letters.delete', 'letters.create', 'letters.create') },
    { name: 'deliveries with a status', ...list('?status=dead', 'letters.create') },
    { name: 'deliveries of an event', ...list('?event=letters.delete', 'letters.delete') },
    { name: 'a page of deliveries', ...list('?perPage=2&page=2', 'letters.create') },
    {
      name: 'an unknown status',
      as: 'admin',
      request: `GET ${path}/${id}/deliveries?status=lost`,
      expect: refused.malformedWith({ status: is.text }),
      spec: 'http §2.5',
    },
    {
      name: 'one delivery with its attempts',
      as: 'admin',
      request: `GET ${path}/${id}/deliveries/${dead.id}`,
      expect: {
        status: 200,
        json: {
          data: {
            id: dead.id,
            webhook_id: id,
            event_id: is.uuid,
            event: 'letters.create',
            status: 'dead',
            attempt: 2,
            response_code: 500,
            response_body: 'no',
            error: is.text,
            payload: is.containing({ id: dead.event_id, event: 'letters.create' }),
            attempts: [attempt, attempt],
            next_attempt_at: null,
            created_at: is.now,
            updated_at: is.now,
            completed_at: is.now,
          },
        },
      },
      spec: 'webhooks §4.2',
    },
    {
      name: 'an unknown delivery',
      as: 'admin',
      request: `GET ${path}/${id}/deliveries/${unknownId}`,
      expect: refused.notFound,
      spec: 'webhooks §4.2',
    },
    ...[{}, { since: 'yesterday' }, { since: -1 }].map((body) => ({
      name: `a replay of ${JSON.stringify(body)}`,
      as: 'admin' as const,
      request: `POST ${path}/${id}/replay`,
      body,
      expect: refused.naming('since'),
      spec: 'webhooks §4.5',
    })),
    {
      name: 'a replay of a future time',
      as: 'admin',
      request: `POST ${path}/${id}/replay`,
      body: { since: since + 3600 },
      expect: { status: 200, json: { data: { count: 0 } } },
      spec: 'webhooks §4.5',
    },
    {
      name: 'for admins only',
      as: 'user',
      request: `POST ${path}/${id}/replay`,
      body: { since },
      expect: refused.forbidden,
      spec: 'http §6.3',
    },
  ]);

  const idsOf = (deliveries: readonly JsonObject[]) => new Set(deliveries.map((delivery) => delivery.event_id));
  await t.test('dead deliveries are replayed [webhooks §4.5]', async () => {
    const from = receiver.deliveries.length;
    assert.deepEqual(await admin.post(`${path}/${id}/replay`, { since, status: 'dead' }, 200), { count: 1 });
    const [again] = (await receiver.received(from + 1)).slice(from);
    assert.equal(again?.json.id, dead.event_id);
    assert.notEqual(again?.headers['x-service-delivery'], dead.id);
    await eventually('it is logged', async () => (await deliveriesOf(admin, id, '?status=success')).length === 3);
  });
  await t.test('without a status all events are replayed, each once [webhooks §4.5]', async () => {
    const from = receiver.deliveries.length;
    assert.deepEqual(await admin.post(`${path}/${id}/replay`, { since }, 200), { count: 3 });
    const again = (await receiver.received(from + 3)).slice(from);
    assert.equal(again.length, 3);
    assert.deepEqual(new Set(again.map(({ json }) => json.id)), idsOf(await deliveriesOf(admin, id)));
  });
});

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
    await eventually('both arrive', async () => (await deliveriesOf(admin, id, '?status=success')).length === 2);
    await eventually('it is well', async () => at(await statusOf(id), 'data.state') === 'active');
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
        },
      }),
      [],
    );
    await admin.delete(`${path}/${id}`);
  });

  await t.test(
    'is disabled after a time with an event on the bus, and continues when enabled [webhooks §6.2]',
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
            data: { record: { id, name: 'sink', url: receiver.url, failures: is.number, failing_since: is.now } },
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
});
