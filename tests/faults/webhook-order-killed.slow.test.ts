import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '../harness/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at } from '../harness/json.ts';
import { type Receiver, startReceiver } from '../harness/receiver.ts';
import { type ServiceProcess, startServiceProcess } from '../harness/service-process.ts';
import { createGround, startStack } from '../harness/stack.ts';
import { createWebhook } from '../harness/webhook.ts';

/** How many events there are. Set it to 100,000 for webhooks §2.10 at length. */
const events = Number(process.env.TEST_ORDERED_EVENTS ?? 1000);
const perRecord = events >= 100_000 ? 100 : 20;
const records = Math.ceil(events / perRecord);
/** The share of the events after which a replica ends, again and again. */
const everyShare = events >= 100_000 ? 0.02 : 0.3;
/** A dead replica's lanes wait for the end of its leases. */
const patience = { timeoutMs: 120_000 + events * 50, intervalMs: 100 };

/** Writes each record's events one by one, and the records beside each other. */
async function writeAll(admin: Client): Promise<void> {
  let left = records;
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      while (left > 0) {
        left -= 1;
        const { id } = await admin.create('legs', { n: 0 });
        for (let n = 1; n < perRecord; n += 1) await admin.patch(`/api/v1/legs/${id}`, { n });
      }
    }),
  );
}

/** Follows what arrives: a delivery is its record's next one, or the last one again, whose outcome was lost. */
function createJudge(receiver: Receiver) {
  const last = new Map<unknown, number>();
  const inverted: string[] = [];
  let seen = 0;
  return {
    /** Returns how many different events have arrived. */
    count(): number {
      for (const { json } of receiver.deliveries.slice(seen)) {
        seen += 1;
        const [id, n] = [at(json, 'data.record.id'), Number(at(json, 'data.record.n'))];
        const before = last.get(id) ?? -1;
        if (n !== before && n !== before + 1) inverted.push(`${id}: ${n} after ${before}`);
        last.set(id, Math.max(n, before));
      }
      return [...last.values()].reduce((sum, n) => sum + n + 1, 0);
    },
    inverted,
  };
}

test(`${events} ordered events of ${records} records keep their order while replicas are killed and freeze [webhooks §2.10]`, async () => {
  await using tidying = new AsyncDisposableStack();
  const ground = tidying.use(await createGround());
  const stack = tidying.use(await startStack({ topology: 'one', ground }));
  const receiver = tidying.use(await startReceiver());
  const admin = await stack.admin();
  await admin.post('/api/v1/collections', { name: 'legs', fields: [{ name: 'n', type: 'number' }] });
  const { id } = await createWebhook(admin, receiver.url, ['legs.*'], { ordering: 'record', timeout_ms: 60_000 });
  // One in twenty deliveries fails at first.
  receiver.behave(() => ({ status: receiver.deliveries.length % 20 === 0 ? 500 : 200 }));
  const judge = createJudge(receiver);
  const addReplica = async (): Promise<ServiceProcess> => tidying.use(await startServiceProcess('webhooks', ground));

  let replica = await addReplica();
  const written = writeAll(admin);
  const frozen: ServiceProcess[] = [];
  for (let share = everyShare, isFreeze = false; share < 1; share += everyShare, isFreeze = !isFreeze) {
    await eventually('many have arrived', () => judge.count() >= share * events, patience);
    replica.process.kill(isFreeze ? 'SIGSTOP' : 'SIGKILL');
    if (isFreeze) frozen.push(replica);
    replica = await addReplica();
  }
  await written;
  const total = records * perRecord;
  await eventually('all have arrived', () => judge.count() === total, patience);
  // They still hold deliveries that others have sent meanwhile.
  for (const { process: child } of frozen) child.kill('SIGCONT');
  await admin.create('legs', { n: 0 });
  await eventually('a later one arrives', () => judge.count() === total + 1, patience);
  await eventually(
    'nothing waits',
    async () => at((await admin.get(`/api/v1/admin/webhooks/${id}/status`)).json, 'data.pending') === 0,
    patience,
  );
  assert.deepEqual(judge.inverted, []);
});
