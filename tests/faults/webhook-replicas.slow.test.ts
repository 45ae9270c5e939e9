import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWebhook } from '../harness/clients/webhook.ts';
import { everyRecordArrives, writeBurst } from '../harness/clients/write-burst.ts';
import { eventually } from '../harness/eventually.ts';
import { knowsPorts, localPortsOf } from '../harness/processes/connected-process.ts';
import { type Receiver, startReceiver } from '../harness/servers/receiver.ts';
import { startServiceProcess } from '../harness/stacks/service-process.ts';
import { createGround, startStack } from '../harness/stacks/stack.ts';

const events = 2000;
/** More deliveries than four replicas have in progress for one webhook, so that each gets some. */
const firstEvents = 400;

/** Waits until each process has a delivery in progress. */
const allTakePart = (receiver: Receiver, pids: readonly number[]) =>
  eventually(`${pids.length} replicas deliver`, () => {
    const used = new Set(receiver.deliveries.map(({ fromPort }) => fromPort));
    return pids.every((pid) =>
      localPortsOf(pid)
        .values()
        .some((port) => used.has(port)),
    );
  });

test(`two and then four webhooks replicas share ${events} events: each is delivered once, and every replica delivers some [docs/reliability]`, async (t) => {
  await using tidying = new AsyncDisposableStack();
  const ground = tidying.use(await createGround());
  const stack = tidying.use(await startStack({ topology: 'one', ground }));
  const admin = await stack.admin();
  const pids = [stack.process.pid];
  const addReplica = async (): Promise<void> => {
    const replica = tidying.use(await startServiceProcess('webhooks', ground));
    pids.push(replica.process.pid);
  };

  for (const replicas of [2, 4]) {
    await t.test(`${replicas} replicas`, async () => {
      await using receiver = await startReceiver();
      const collection = `parcels${replicas}`;
      await admin.post('/api/v1/collections', { name: collection, type: 'base', fields: [] });
      await createWebhook(admin, receiver.url, [`${collection}.*`], { timeout_ms: 60_000 });
      for (let count = pids.length; count < replicas; count += 1) await addReplica();
      // A hanging delivery keeps its connection, which identifies its replica.
      receiver.behave('hang');
      const write = (count: number) => writeBurst({ url: stack.url, collection, count });
      const first = await write(firstEvents);
      if (knowsPorts) await allTakePart(receiver, pids);
      receiver.behave({ status: 200 });
      receiver.release();
      assert.equal(first + (await write(events - firstEvents)), events);
      assert.deepEqual(await everyRecordArrives(admin, receiver, collection), [], 'no event is delivered twice');
      const ids = receiver.deliveries.map(({ headers }) => headers['x-service-delivery']);
      assert.equal(new Set(ids).size, events);
    });
  }
});
