import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { createWebhook, deliveriesOf, deliveryIn, webhooksPath } from '../harness/clients/webhook.ts';
import { writeBurst } from '../harness/clients/write-burst.ts';
import { eventually } from '../harness/eventually.ts';
import { at, textAt } from '../harness/json.ts';
import { startReceiver } from '../harness/servers/receiver.ts';
import { onOneProcess } from '../harness/stacks/target.ts';

const events = 60;
const hangingCount = 20;
/** A receiver that drips sends an answer's head, which arrives within seconds on any machine. */
const timeoutsMs = { hang: 3000, drip: 5000, reset: 30_000 };

onOneProcess('bad receivers cost only their own deliveries [docs/reliability]', async (t, target) => {
  await using receiver = await startReceiver();
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'letters', type: 'base', fields: [] });

  /** A case that fails must leave no webhook to the next one. */
  async function webhook(t: TestContext, members: object = {}): Promise<unknown> {
    const { id } = await createWebhook(admin, receiver.url, ['letters.*'], members);
    t.after(async () => {
      await admin.delete(`${webhooksPath}/${id}`);
      receiver.behave({ status: 200 });
    });
    return id;
  }

  await t.test('only the kept part of a 100 MB answer is read', async (t) => {
    const id = await webhook(t);
    receiver.behave('flood');
    await admin.create('letters', {});
    const { response_body, attempt } = await deliveryIn(admin, id, 'success');
    assert.deepEqual([response_body, attempt], ['x'.repeat(2048), 1]);
    assert.ok(receiver.floodedBytes < 20 * 1024 ** 2, `${receiver.floodedBytes} bytes were read`);
  });

  // The log has the status of an answer whose body does not end.
  const codes = { hang: null, drip: 200, reset: null };
  for (const behaviour of ['hang', 'drip', 'reset'] as const) {
    await t.test(`a receiver that ${behaviour}s gets only its attempts`, async (t) => {
      const id = await webhook(t, { timeout_ms: timeoutsMs[behaviour], retry_max: 1 });
      const from = receiver.deliveries.length;
      receiver.behave(behaviour);
      await admin.create('letters', {});
      const { attempt, error, response_code } = await deliveryIn(admin, id, 'dead');
      assert.deepEqual([attempt, response_code, receiver.deliveries.length - from], [2, codes[behaviour], 2]);
      assert.ok(error);
    });
  }

  await t.test(`${hangingCount} hanging receivers at the same host do not delay a healthy one`, async () => {
    await using host = await startReceiver();
    host.behave((path) => (path.endsWith('/healthy') ? { status: 200 } : 'hang'));
    const members = { timeout_ms: 60_000, retry_max: 0 };
    for (let count = 0; count < hangingCount; count += 1)
      await createWebhook(admin, `${host.url}/hanging/${count}`, ['letters.*'], members);
    const healthy = await createWebhook(admin, `${host.url}/healthy`, ['letters.*'], members);
    assert.equal(await writeBurst({ url: target.url, collection: 'letters', count: events, parallel: 10 }), events);
    await eventually(
      'the healthy receiver has all deliveries',
      async () => (await deliveriesOf(admin, healthy.id, `?status=success&perPage=${events}`)).length === events,
    );
    // No hanging request has ended yet, so none has freed a slot.
    assert.equal(host.abandoned, 0);
    const ofHealthy = host.deliveries.filter(({ path }) => path.endsWith('/healthy'));
    assert.equal(new Set(ofHealthy.map(({ json }) => textAt(json, 'id'))).size, events);
    assert.equal(ofHealthy.length, events);
    const hanging = host.deliveries.find(({ path }) => path.endsWith('/hanging/0'));
    assert.ok(hanging, 'the other deliveries are in progress');
    assert.equal(at(hanging.json, 'event'), 'letters.create');
  });
});
