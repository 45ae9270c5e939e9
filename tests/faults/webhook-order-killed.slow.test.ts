import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '../harness/clients/client.ts';
import { createWebhook, webhooksPath } from '../harness/clients/webhook.ts';
import { eventually } from '../harness/eventually.ts';
import { at, type JsonObject, objectAt, textAt } from '../harness/json.ts';
import { type Delivery, type Receiver, startReceiver } from '../harness/servers/receiver.ts';
import { type ServiceProcess, startServiceProcess } from '../harness/stacks/service-process.ts';
import { createGround, startStack } from '../harness/stacks/stack.ts';

/** How many events there are. Set it to 100,000 for webhooks §2.10 at length. */
const events = Number(process.env.TEST_ORDERED_EVENTS ?? 1000);
const perRecord = events >= 100_000 ? 100 : 20;
const records = Math.ceil(events / perRecord);
/** The share of the events after which a replica ends, again and again. */
const everyShare = events >= 100_000 ? 0.02 : 0.3;
/** A dead replica's lanes wait for the end of its leases. */
const patience = { timeoutMs: 120_000 + events * 50, intervalMs: 100 };

/** Writes each record's events one by one, and the records beside each other. */
async function writeAll(admin: Client, collection: string): Promise<void> {
  let left = records;
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      while (left > 0) {
        left -= 1;
        const { id } = await admin.create(collection, { n: 0 });
        for (let n = 1; n < perRecord; n += 1) await admin.patch(`/api/v1/${collection}/${id}`, { n });
      }
    }),
  );
}

/** A request's bodies: those of a batch, or its only one. */
const bodiesOf = ({ json }: Delivery): readonly JsonObject[] => (Array.isArray(json) ? json : [json]);

/**
 * Follows what arrives: a request has its record's next events, or is the record's last request again, whose outcome was lost or
 * a failure.
 */
function createJudge(receiver: Receiver) {
  const last = new Map<unknown, { readonly request: unknown; readonly n: number }>();
  const inverted: string[] = [];
  let seen = 0;
  return {
    /** Returns how many different events have arrived. */
    count(): number {
      const requests = receiver.deliveries.slice(seen);
      seen += requests.length;
      for (const delivery of requests) {
        const request = delivery.headers['webhook-id'];
        const bodies = bodiesOf(delivery);
        const id = at(bodies[0] ?? {}, 'data.record.id');
        const before = last.get(id);
        if (before?.request === request) continue;
        const found = bodies.map((body) => Number(at(body, 'data.record.n')));
        const from = (before?.n ?? -1) + 1;
        const isNext = found.every((n, index) => n === from + index);
        if (!isNext || bodies.some((body) => at(body, 'data.record.id') !== id))
          inverted.push(`${id}: ${found} after ${from - 1}`);
        last.set(id, { request, n: Math.max(from - 1, ...found) });
      }
      return [...last.values()].reduce((sum, { n }) => sum + n + 1, 0);
    },
    inverted,
  };
}

for (const [collection, batch, section] of [
  ['legs', null, '2.10'],
  ['hops', { max: 5, wait_ms: 100 }, '2.11'],
] as const)
  test(`${events} ordered events of ${records} records keep their order ${batch ? 'in batches ' : ''}while replicas are killed and freeze [webhooks §${section}]`, () =>
    killAndFreeze(collection, batch));

async function killAndFreeze(collection: string, batch: object | null): Promise<void> {
  await using tidying = new AsyncDisposableStack();
  const ground = tidying.use(await createGround());
  const stack = tidying.use(await startStack({ topology: 'one', ground }));
  const receiver = tidying.use(await startReceiver());
  const admin = await stack.admin();
  await admin.post('/api/v1/collections', { name: collection, fields: [{ name: 'n', type: 'number' }] });
  const { id } = await createWebhook(admin, receiver.url, [`${collection}.*`], {
    ordering: 'record',
    timeout_ms: 60_000,
    batch,
  });
  // One in twenty requests fails at first.
  receiver.behave(() => ({ status: receiver.deliveries.length % 20 === 0 ? 500 : 200 }));
  const judge = createJudge(receiver);
  const addReplica = async (): Promise<ServiceProcess> => tidying.use(await startServiceProcess('webhooks', ground));

  let replica = await addReplica();
  const written = writeAll(admin, collection);
  const frozen: ServiceProcess[] = [];
  for (let share = everyShare, isFreeze = false; share < 1; share += everyShare, isFreeze = !isFreeze) {
    await eventually('many have arrived', () => judge.count() >= share * events, patience);
    replica.process.kill(isFreeze ? 'SIGSTOP' : 'SIGKILL');
    if (isFreeze) frozen.push(replica);
    replica = await addReplica();
  }
  await written;
  const total = records * perRecord;
  /** A delivery that three replicas held when they ended is dead, and blocks its lane until an admin says how it continues. */
  const retryInterrupted = async () => {
    const { blocking } = objectAt((await admin.get(`${webhooksPath}/${id}/status`)).json, 'data');
    if (!blocking) return;
    const delivery_id = textAt(blocking, 'delivery_id');
    const { json } = await admin.get(`${webhooksPath}/${id}/deliveries/${delivery_id}`);
    assert.equal(at(json, 'data.error'), 'delivery interrupted', JSON.stringify(json));
    await admin.post(`${webhooksPath}/${id}/unblock`, { action: 'retry', delivery_id }, 200);
  };
  await eventually(
    'all have arrived',
    async () => {
      await retryInterrupted();
      return judge.count() === total;
    },
    patience,
  );
  // They still hold deliveries that others have sent meanwhile.
  for (const { process: child } of frozen) child.kill('SIGCONT');
  await admin.create(collection, { n: 0 });
  await eventually('a later one arrives', () => judge.count() === total + 1, patience);
  await eventually(
    'nothing waits',
    async () => at((await admin.get(`/api/v1/admin/webhooks/${id}/status`)).json, 'data.pending') === 0,
    patience,
  );
  assert.deepEqual(judge.inverted, []);
  assert.ok(receiver.deliveries.every(({ json }) => Array.isArray(json) === (batch !== null)));
}
