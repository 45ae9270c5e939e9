import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { verifyDelivery } from '../harness/clients/signature.ts';
import { createWebhook, deliveriesOf, deliveryIn } from '../harness/clients/webhook.ts';
import { eventually } from '../harness/eventually.ts';
import { startReceiver } from '../harness/servers/receiver.ts';
import { createGround, type Stack, startStack } from '../harness/stacks/stack.ts';

/** A dead process's attempt is repeated when its lease expires, in milliseconds. */
const leaseTimeoutMs = 60_000;

/** Longer than another stack's start, also on a busy machine. */
const longestTimeoutMs = 60_000;

/** The timeout for an attempt that a test lets time out. */
const timeoutMs = 15_000;

/** Kills a process during a delivery, with `kill`, and waits until a later process delivers it. */
async function deliverDespiteKill(stack: Stack, kill: () => Promise<Stack>): Promise<void> {
  await using receiver = await startReceiver();
  const admin = await stack.admin();
  await admin.post('/api/v1/collections', { name: 'parcels', type: 'base', fields: [] });
  const { id, secret } = await createWebhook(admin, receiver.url, ['parcels.*'], { timeout_ms: longestTimeoutMs });
  receiver.behave('hang');
  const record = await admin.create('parcels', {});
  await receiver.received(1);
  // The hanging request stays unanswered; later ones are answered, however long the next process takes to start.
  receiver.behave({ status: 200 });

  const next = await kill();
  const attempts = await receiver.received(2, leaseTimeoutMs);
  for (const { headers, text, json } of attempts) {
    verifyDelivery(headers, text, String(secret));
    assert.deepEqual((json.data as { record: unknown }).record, { ...record });
  }
  assert.equal(new Set(attempts.map(({ headers }) => headers['x-service-delivery'])).size, 1);
  assert.equal(new Set(attempts.map(({ text }) => text)).size, 1);

  const logged = await deliveryIn(await next.admin(), id, 'success');
  assert.equal(logged.id, attempts[0]?.headers['x-service-delivery']);
  // An attempt counts when its outcome is recorded (webhooks §2.3).
  assert.equal(logged.attempt, 1);
  assert.equal(receiver.deliveries.length, 2);
}

// The tests mostly wait for leases to expire, so they run concurrently.
describe('a delivery outlives its process', { concurrency: true }, () => {
  test('when the webhooks service is killed [docs/reliability]', async () => {
    await using stack = await startStack({ topology: 'processes' });
    await deliverDespiteKill(stack, async () => {
      const killed = stack.services.webhooks?.pid ?? 0;
      process.kill(killed, 'SIGKILL');
      await eventually('the service runs again', () => stack.services.webhooks?.pid !== killed);
      return stack;
    });
  });

  test('when the whole stack is killed and started again [docs/reliability]', async () => {
    await using ground = await createGround();
    await using stack = await startStack({ topology: 'one', ground });
    await using later = new AsyncDisposableStack();
    await deliverDespiteKill(stack, async () => {
      stack.process.kill('SIGKILL');
      await stack.process.exited;
      return later.use(await startStack({ topology: 'one', ground }));
    });
  });

  test('when its replica is killed and another one completes it [docs/reliability]', async () => {
    await using ground = await createGround();
    await using first = await startStack({ topology: 'one', ground });
    await using later = new AsyncDisposableStack();
    await deliverDespiteKill(first, async () => {
      const second = later.use(await startStack({ topology: 'one', beside: ground }));
      first.process.kill('SIGKILL');
      await first.process.exited;
      return second;
    });
  });

  test("when its replica hangs; the resumed replica's outcome is ignored", async () => {
    await using ground = await createGround();
    await using first = await startStack({ topology: 'one', ground });
    await using receiver = await startReceiver();
    await (await first.admin()).post('/api/v1/collections', { name: 'parcels', type: 'base', fields: [] });
    const { id } = await createWebhook(await first.admin(), receiver.url, ['parcels.*'], { timeout_ms: timeoutMs });
    receiver.behave('hang');
    await first.guest.create('parcels', {});
    const deliveryId = (await receiver.received(1))[0]?.headers['x-service-delivery'];
    const attempts = () =>
      receiver.deliveries.filter(({ headers }) => headers['x-service-delivery'] === deliveryId).length;
    first.process.kill('SIGSTOP');

    await using second = await startStack({ topology: 'one', beside: ground });
    await receiver.received(2, leaseTimeoutMs);
    assert.equal(attempts(), 2);
    first.process.kill('SIGCONT');
    await eventually('the attempt of the resumed replica times out', () => receiver.abandoned === 1, {
      timeoutMs: 2 * timeoutMs,
    });
    // Outcomes are written in batches: when a later one is written, the resumed replica's has been written too.
    receiver.behave({ status: 200 });
    const admin = await second.admin();
    await second.guest.create('parcels', {});
    await deliveryIn(admin, id, 'success');
    receiver.release();
    await eventually('both are delivered', async () => (await deliveriesOf(admin, id, '?status=success')).length === 2);
    const logged = (await deliveriesOf(admin, id)).find((delivery) => delivery.id === deliveryId);
    assert.deepEqual([logged?.attempt, attempts()], [1, 2]);
  });
});
