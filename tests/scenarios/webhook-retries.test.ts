import assert from 'node:assert/strict';
import { verifyDelivery } from '../harness/clients/signature.ts';
import { createWebhook, deliveriesOf, deliveryIn, webhooksPath as path } from '../harness/clients/webhook.ts';
import { eventually } from '../harness/eventually.ts';
import { differences, is } from '../harness/matching.ts';
import { startReceiver } from '../harness/servers/receiver.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

onEachTopology('a failed delivery is sent again', async (t, target) => {
  await using receiver = await startReceiver();
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'notes', type: 'base', fields: [] });
  const webhook = (members: object = {}) => createWebhook(admin, receiver.url, ['notes.*'], members);

  await t.test('a retry has the same id and body, and a new signature [webhooks §2.7]', async (t) => {
    const { id, secret } = await webhook();
    t.after(() => admin.delete(`${path}/${id}`));
    const from = receiver.deliveries.length;
    receiver.behave(
      { status: 500, body: 'out of order' },
      { status: 302, headers: { Location: '/elsewhere' } },
      'reset',
      {
        status: 204,
      },
    );
    await admin.create('notes', {});
    const attempts = (await receiver.received(from + 4)).slice(from);
    const { attempts: logged, attempt } = await deliveryIn(admin, id, 'success');
    assert.equal(attempt, 4);
    for (const { headers, text } of attempts) verifyDelivery(headers, text, String(secret));
    assert.equal(new Set(attempts.map(({ headers }) => headers['x-service-delivery'])).size, 1);
    assert.equal(new Set(attempts.map(({ text }) => text)).size, 1);
    assert.deepEqual(new Set(attempts.map(({ path }) => path)), new Set(['/hook']));
    const row = (response_code: unknown, error: unknown) => ({
      at: is.now,
      response_code,
      duration_ms: is.number,
      error,
    });
    assert.deepEqual(
      differences(logged, [row(500, is.anything), row(302, is.anything), row(null, is.text), row(204, null)]),
      [],
    );
    assertBackoff(
      attempts.map(({ atMs }) => atMs),
      100,
    );
  });

  await t.test('a receiver aborts its failed delivery [webhooks §3.5]', async (t) => {
    const { id } = await webhook();
    t.after(() => admin.delete(`${path}/${id}`));
    const from = receiver.deliveries.length;
    receiver.behave({ status: 500, headers: { 'Webhook-Delivery': 'Abort-Message' } });
    await admin.create('notes', {});
    const { attempt, response_code, error } = await deliveryIn(admin, id, 'dead');
    assert.deepEqual([attempt, response_code], [1, 500]);
    assert.match(String(error), /500 and aborted/);
    assert.equal(receiver.deliveries.length - from, 1);
    receiver.behave({ status: 200, headers: { 'Webhook-Delivery': 'abort-message' } });
    await admin.create('notes', {});
    await deliveryIn(admin, id, 'success');
  });

  await t.test('a rate spreads deliveries, and each needs one attempt [webhooks §2.8]', async (t) => {
    const rate = 10;
    const { id } = await webhook({ rate });
    t.after(() => admin.delete(`${path}/${id}`));
    receiver.behave({ status: 200 });
    const from = receiver.deliveries.length;
    const startMs = Date.now();
    for (let count = 0; count < 6; count += 1) await admin.create('notes', {});
    const last = (await receiver.received(from + 6)).at(-1);
    assert.ok(Number(last?.atMs) - startMs >= 5 * (1000 / rate));
    await eventually('all are delivered', async () => (await deliveriesOf(admin, id, '?status=success')).length === 6);
    assert.deepEqual(new Set((await deliveriesOf(admin, id)).map(({ attempt }) => attempt)), new Set([1]));
    assert.equal((await admin.patch(`${path}/${id}`, { rate: null })).rate, null);
  });

  await t.test('after retry_max + 1 attempts the delivery is dead [webhooks §2.3]', async (t) => {
    const { id } = await webhook({ retry_max: 1, retry_backoff: 'fixed' });
    t.after(() => admin.delete(`${path}/${id}`));
    const from = receiver.deliveries.length;
    receiver.behave({ status: 503, body: 'x'.repeat(5000) });
    await admin.create('notes', {});
    const dead = await deliveryIn(admin, id, 'dead');
    assert.equal(receiver.deliveries.length - from, 2);
    assert.deepEqual(
      differences(
        dead,
        is.containing({
          attempt: 2,
          response_code: 503,
          response_body: 'x'.repeat(2048),
          next_attempt_at: null,
          completed_at: is.now,
        }),
      ),
      [],
    );
    receiver.behave({ status: 200 });
  });

  // The head of an answer arrives within seconds on any machine.
  for (const [behaviour, timeoutMs] of [
    ['hang', 200],
    ['drip', 5000],
  ] as const) {
    await t.test(`a receiver that ${behaviour}s is cut off at the timeout [webhooks §2.2]`, async (t) => {
      const { id } = await webhook({ retry_max: 0, timeout_ms: timeoutMs });
      t.after(() => admin.delete(`${path}/${id}`));
      receiver.behave(behaviour);
      await admin.create('notes', {});
      const dead = await deliveryIn(admin, id, 'dead');
      const begun = behaviour === 'drip' ? 200 : null;
      const seen = is.containing({
        attempt: 1,
        response_code: begun,
        error: `timeout after ${timeoutMs} ms`,
        attempts: [is.containing({ response_code: begun })],
      });
      assert.deepEqual(differences(dead, seen), []);
      receiver.behave({ status: 200 });
    });
  }

  await t.test('interim answers before the answer are read over [webhooks §2.2]', async (t) => {
    const { id } = await webhook({ retry_max: 0, headers: JSON.parse('{"__proto__":"a","constructor":"b"}') });
    t.after(() => admin.delete(`${path}/${id}`));
    receiver.behave({ status: 200, interim: true, body: 'taken' });
    await admin.create('notes', {});
    const delivery = await deliveryIn(admin, id, 'success');
    assert.deepEqual(
      differences(delivery, is.containing({ attempt: 1, response_code: 200, response_body: 'taken' })),
      [],
    );
    assert.equal(receiver.deliveries.at(-1)?.headers.constructor, 'b');
  });

  await t.test('410 Gone ends the delivery [webhooks §2.1]', async (t) => {
    const { id } = await webhook();
    t.after(() => admin.delete(`${path}/${id}`));
    receiver.behave({ status: 410 });
    await admin.create('notes', {});
    assert.equal((await deliveryIn(admin, id, 'dead')).attempt, 1);
    receiver.behave({ status: 200 });
  });
});

/** Checks that the waits are at least 1, 2, 4 … times the delay (webhooks §2.4). A slow machine only makes them longer. */
function assertBackoff(timesMs: readonly number[], delayMs: number): void {
  timesMs.slice(1).forEach((atMs, index) => {
    const gapMs = atMs - Number(timesMs[index]);
    const leastMs = delayMs * 2 ** index;
    // Both times are rounded to milliseconds.
    assert.ok(gapMs >= leastMs - 2, `attempt ${index + 2} came after ${gapMs} ms instead of ${leastMs}`);
  });
}
