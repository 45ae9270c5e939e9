import assert from 'node:assert/strict';
import { Webhook } from 'standardwebhooks';
import type { Client } from '../harness/clients/client.ts';
import { verifyDelivery } from '../harness/clients/signature.ts';
import { createWebhook, deliveriesOf, deliveryIn, webhooksPath as path } from '../harness/clients/webhook.ts';
import { eventually } from '../harness/eventually.ts';
import { numberAt } from '../harness/json.ts';
import { differences, is } from '../harness/matching.ts';
import { type Delivery, type Receiver, startReceiver } from '../harness/servers/receiver.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

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
  // A busy machine takes longer than the usual time limit to make it fail.
  const webhook = await createWebhook(admin, receiver.url, [`${collection}.*`], { timeout_ms: 60_000 });
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

onEachTopology("a webhook changes between two of a delivery's attempts", async (t, target) => {
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
    'after its secret is regenerated both secrets sign the Standard Webhooks header for a while [webhooks §5.5]',
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
      await eventually('the success ends the run of failures', async () => {
        const { json } = await admin.get(`${path}/${id}/status`);
        return numberAt(json, 'data.failures') === 0;
      });
      await admin.delete(`${path}/${id}`);
    },
  );

  await t.test('without an overlap the old secret ends immediately [webhooks §5.5]', async () => {
    const { id, secret, fail } = await beginDelivery(admin, receiver, 'parcels');
    const webhook = await admin.post(`${path}/${id}/regenerate-secret`, { overlap_seconds: 0 }, 200);
    fail();
    await deliveryIn(admin, id, 'success');
    const next = receiver.deliveries.at(-1);
    assert.ok(next);
    assert.deepEqual([isSignedWith(secret, next), isSignedWith(String(webhook.secret), next)], [false, true]);
    await admin.delete(`${path}/${id}`);
  });

  await t.test('a changed address and changed headers apply from the next attempt [webhooks §1.5]', async () => {
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

  await t.test('a changed retry_max applies from the next attempt [webhooks §1.5]', async () => {
    const { id, fail } = await beginDelivery(admin, receiver, 'parcels');
    await admin.patch(`${path}/${id}`, { retry_max: 1 });
    fail();
    receiver.behave({ status: 500 });
    assert.equal((await deliveryIn(admin, id, 'dead')).attempt, 2);
    await admin.delete(`${path}/${id}`);
  });

  await t.test(
    'its pending deliveries wait while it is disabled, and continue afterwards [webhooks §1.6]',
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

  await t.test('its deliveries are deleted with it [webhooks §1.5]', async () => {
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
