import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { eventually } from '../harness/eventually.ts';
import { startReceiver } from '../harness/receiver.ts';
import { verifyDelivery } from '../harness/signature.ts';
import { createGround, type Stack, startStack } from '../harness/stack.ts';
import { createWebhook, deliveryIn } from '../harness/webhook.ts';

/** An attempt that a dead process had begun is made again when its lease has run out, in milliseconds. */
const leaseTimeoutMs = 60_000;

const timeoutMs = 1000;

/** Kills a process outright in the middle of a delivery, with `kill`, and sees it delivered by what runs afterwards. */
async function deliverOverDeath(t: TestContext, stack: Stack, kill: () => Promise<Stack>): Promise<void> {
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const admin = await stack.admin();
  await admin.post('/api/v1/collections', { name: 'parcels', type: 'base', fields: [] });
  const { id, secret } = await createWebhook(admin, receiver.url, ['parcels.*'], { timeout_ms: timeoutMs });
  receiver.behave('hang');
  const record = await admin.create('parcels', {});
  await receiver.received(1);

  const next = await kill();
  receiver.behave({ status: 200 });
  const attempts = await receiver.received(2, leaseTimeoutMs);
  for (const { headers, text, json } of attempts) {
    verifyDelivery(headers, text, String(secret));
    assert.deepEqual((json.data as { record: unknown }).record, { ...record });
  }
  assert.equal(new Set(attempts.map(({ headers }) => headers['x-service-delivery'])).size, 1);
  assert.equal(new Set(attempts.map(({ text }) => text)).size, 1);

  const logged = await deliveryIn(await next.admin(), id, 'success');
  assert.equal(logged.id, attempts[0]?.headers['x-service-delivery']);
  // Contract §5: an attempt counts when its outcome is recorded.
  assert.equal(logged.attempt, 1);
  assert.equal(receiver.deliveries.length, 2);
}

test('the webhooks service is killed in the middle of a delivery [issue 2, failure]', async (t) => {
  const stack = await startStack({ topology: 'processes' });
  t.after(() => stack.stop());
  await deliverOverDeath(t, stack, async () => {
    const killed = stack.services.webhooks?.pid ?? 0;
    process.kill(killed, 'SIGKILL');
    await eventually('the service runs again', () => stack.services.webhooks?.pid !== killed);
    return stack;
  });
});

test('the whole stack is killed in the middle of a delivery, and started again [issue 2, failure]', async (t) => {
  const ground = await createGround();
  t.after(() => ground.remove());
  const stack = await startStack({ topology: 'one', ground });
  t.after(() => stack.stop());
  await deliverOverDeath(t, stack, async () => {
    stack.process.kill('SIGKILL');
    await stack.process.exited;
    const next = await startStack({ topology: 'one', ground });
    t.after(() => next.stop());
    return next;
  });
});

test('another replica delivers what a killed one had begun [issue 2, failure]', async (t) => {
  const ground = await createGround();
  t.after(() => ground.remove());
  const first = await startStack({ topology: 'one', ground });
  t.after(() => first.stop());
  await deliverOverDeath(t, first, async () => {
    const second = await startStack({ topology: 'one', ground, environment: { SERVICE_DATA_DIR: '' } });
    t.after(() => second.stop());
    first.process.kill('SIGKILL');
    await first.process.exited;
    return second;
  });
});
