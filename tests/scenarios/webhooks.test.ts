import assert from 'node:assert/strict';
import { verifyDelivery } from '../harness/clients/signature.ts';
import { createWebhook, deliveriesOf, deliveryIn, webhooksPath as path } from '../harness/clients/webhook.ts';
import { eventually } from '../harness/eventually.ts';
import { type JsonObject, textAt } from '../harness/json.ts';
import { differences, is } from '../harness/matching.ts';
import { startReceiver } from '../harness/servers/receiver.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

interface Members {
  readonly events?: readonly string[];
  readonly [name: string]: unknown;
}

onEachTopology("a webhook delivers writes' events", async (t, target) => {
  await using receiver = await startReceiver();
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'notes', type: 'base', fields: [{ name: 'title', type: 'text' }] });
  const webhook = ({ events = ['notes.*'], ...members }: Members = {}) =>
    createWebhook(admin, receiver.url, events, members);

  await t.test('a delivery is signed and has the event in its body [webhooks §3.1]', async (t) => {
    const { id, secret } = await webhook({ headers: { Authorization: 'Bearer of-the-receiver' } });
    t.after(() => admin.delete(`${path}/${id}`));
    const from = receiver.deliveries.length;
    const record = await target.guest.create('notes', { title: 'Hello' });
    const delivery = (await receiver.received(from + 1))[from];
    assert.ok(delivery);
    verifyDelivery(delivery.headers, delivery.text, String(secret));
    assert.deepEqual(
      differences(delivery.json, {
        id: is.uuid,
        event: 'notes.create',
        timestamp: is.now,
        version: String(record.updated),
        data: { record: { ...record } },
      }),
      [],
    );
    const logged = await deliveryIn(admin, id, 'success');
    assert.deepEqual(
      differences(
        delivery.headers,
        is.containing({
          'x-service-event': 'notes.create',
          'x-service-delivery': logged.id,
          'x-service-timestamp': is.matching(/^\d+$/),
          'content-type': is.matching(/^application\/json/),
          authorization: 'Bearer of-the-receiver',
        }),
      ),
      [],
    );
    assert.deepEqual(differences(logged, loggedDelivery(id, delivery.json, { title: 'Hello' })), []);
  });

  await t.test(
    'an update has the changed fields and the previous record, a delete the last record [webhooks §3.3]',
    async (t) => {
      const { id } = await webhook();
      t.after(() => admin.delete(`${path}/${id}`));
      const from = receiver.deliveries.length;
      const record = await admin.create('notes', { title: 'Before' });
      await admin.patch(`/api/v1/notes/${record.id}`, { title: 'After' });
      await admin.delete(`/api/v1/notes/${record.id}`);
      const bodies = (await receiver.received(from + 3)).slice(from).map(({ json }) => json);
      const dataOf = (event: string) => bodies.find((body) => body.event === event)?.data;
      const after = { ...record, title: 'After', updated: is.number };
      assert.deepEqual(
        differences(dataOf('notes.update'), { record: after, previous: { ...record }, changed: ['title'] }),
        [],
      );
      assert.deepEqual(differences(dataOf('notes.delete'), { record: after }), []);
    },
  );

  await t.test('it delivers only events that its patterns match [webhooks §1.3]', async (t) => {
    const { id } = await webhook({ events: ['notes.delete', 'other.*'] });
    t.after(() => admin.delete(`${path}/${id}`));
    const from = receiver.deliveries.length;
    const record = await admin.create('notes', {});
    await admin.delete(`/api/v1/notes/${record.id}`);
    const [first] = (await receiver.received(from + 1)).slice(from);
    assert.equal(first?.json.event, 'notes.delete');
    assert.equal((await deliveriesOf(admin, id)).length, 1);
  });

  await t.test('it delivers nothing while it is disabled [webhooks §1.6]', async (t) => {
    const disabled = await webhook({ enabled: false });
    const enabled = await webhook();
    t.after(() => Promise.all([disabled, enabled].map(({ id }) => admin.delete(`${path}/${id}`))));
    await admin.create('notes', {});
    await deliveryIn(admin, enabled.id, 'success');
    assert.deepEqual(await deliveriesOf(admin, disabled.id), []);
  });

  await t.test('a test event reaches only its webhook [webhooks §4.3]', async (t) => {
    const [tested, other] = [await webhook({ events: ['*'] }), await webhook({ events: ['*'] })];
    t.after(() => Promise.all([tested, other].map(({ id }) => admin.delete(`${path}/${id}`))));
    const from = receiver.deliveries.length;
    const { id } = await admin.post(`${path}/${tested.id}/test`, {}, 200);
    const [delivery] = (await receiver.received(from + 1)).slice(from);
    assert.equal(delivery?.headers['x-service-delivery'], id);
    assert.equal(delivery?.json.event, 'webhooks.test');
    assert.deepEqual(await deliveriesOf(admin, other.id), []);
  });

  await t.test('an admin redelivers an event [webhooks §4.4]', async (t) => {
    const { id } = await webhook();
    t.after(() => admin.delete(`${path}/${id}`));
    const from = receiver.deliveries.length;
    await admin.create('notes', {});
    const first = await deliveryIn(admin, id, 'success');
    const again = await admin.post(`${path}/${id}/deliveries/${first.id}/redeliver`, {});
    const bodies = (await receiver.received(from + 2)).slice(from);
    assert.notEqual(again.id, first.id);
    assert.equal(again.event_id, first.event_id);
    assert.equal(bodies[1]?.headers['x-service-delivery'], again.id);
    assert.equal(bodies[1]?.json.id, bodies[0]?.json.id);
    await eventually('both deliveries are listed, newest first', async () => {
      const listed = await deliveriesOf(admin, id);
      return listed.length === 2 && listed[0]?.id === again.id && listed[1]?.id === first.id;
    });
    const read = await admin.get(`${path}/${id}/deliveries/${first.id}`);
    assert.equal(textAt(read.json, 'data.id'), first.id);
  });
});

const loggedDelivery = (webhookId: unknown, payload: JsonObject, { title }: { title: string }) => ({
  id: is.uuid,
  webhook_id: webhookId,
  event_id: payload.id,
  event: 'notes.create',
  status: 'success',
  attempt: 1,
  response_code: 200,
  response_body: '',
  error: null,
  payload: is.containing({ id: payload.id, data: { record: is.containing({ title }) } }),
  attempts: [{ at: is.now, response_code: 200, duration_ms: is.number, error: null }],
  next_attempt_at: null,
  created_at: is.now,
  updated_at: is.now,
  completed_at: is.now,
  batch_id: null,
});
