import assert from 'node:assert/strict';
import { createWebhook, deliveriesOf, webhooksPath as path } from '../harness/clients/webhook.ts';
import { eventually } from '../harness/eventually.ts';
import { at, type JsonObject } from '../harness/json.ts';
import { type Receiver, startReceiver } from '../harness/servers/receiver.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

const recordOf = (body: JsonObject): unknown => at(body, 'data.record.id');

/** The values of the field `n` in what arrived for a record, in order of arrival. */
const arrived = (receiver: Receiver, record: unknown): unknown[] =>
  receiver.deliveries.filter(({ json }) => recordOf(json) === record).map(({ json }) => at(json, 'data.record.n'));

onEachTopology('ordered deliveries follow one another [webhooks §2.10]', async (t, target) => {
  await using receiver = await startReceiver();
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'steps', fields: [{ name: 'n', type: 'number' }] });
  /** Requests that hang here are answered before their time limit, also by a busy machine. */
  const webhook = (members: object) =>
    createWebhook(admin, receiver.url, ['steps.*'], { timeout_ms: 60_000, ...members });
  const write = async (count: number): Promise<unknown> => {
    const { id } = await admin.create('steps', { n: 0 });
    for (let n = 1; n < count; n += 1) await admin.patch(`/api/v1/steps/${id}`, { n });
    return id;
  };
  const has = (record: unknown, expected: readonly unknown[]) =>
    eventually(`the record's events arrive: ${expected}`, () => {
      const seen = arrived(receiver, record);
      if (seen.length < expected.length) throw new Error(JSON.stringify(seen));
      assert.deepEqual(seen, expected);
      return true;
    });

  await t.test("one record's follow one another, and a record that hangs delays no other", async (t) => {
    const { id, ordering, on_failure } = await webhook({ ordering: 'record' });
    t.after(() => admin.delete(`${path}/${id}`));
    assert.deepEqual([ordering, on_failure], ['record', 'block']);
    let hanging: unknown;
    receiver.behave((_path, body) => (hanging === undefined || recordOf(body) === hanging ? 'hang' : { status: 200 }));
    hanging = await write(4);
    const other = await write(4);
    await has(other, [0, 1, 2, 3]);
    assert.deepEqual(arrived(receiver, hanging), [0], 'the next one waits for the answer');
    for (let count = 1; count < 4; count += 1) {
      receiver.release();
      await has(hanging, [0, 1, 2, 3].slice(0, count + 1));
    }
    receiver.release();
    await eventually('all are delivered', async () => (await deliveriesOf(admin, id, '?status=success')).length === 8);
  });

  await t.test('a delivery that fails is retried before the next one', async (t) => {
    const { id } = await webhook({ ordering: 'record' });
    t.after(() => admin.delete(`${path}/${id}`));
    const left = new Map<unknown, number>();
    receiver.behave((_path, body) => {
      const key = at(body, 'id');
      const failures = left.get(key) ?? 2;
      left.set(key, failures - 1);
      return { status: failures > 0 ? 500 : 200 };
    });
    await has(await write(3), [0, 0, 0, 1, 1, 1, 2, 2, 2]);
    await eventually('all are delivered', async () => (await deliveriesOf(admin, id, '?status=success')).length === 3);
  });

  await t.test("all of a webhook's follow one another", async (t) => {
    const { id } = await webhook({ ordering: 'all' });
    t.after(() => admin.delete(`${path}/${id}`));
    receiver.behave('hang');
    const from = receiver.deliveries.length;
    const records = [];
    for (let count = 0; count < 4; count += 1) records.push(await write(1));
    for (let count = 1; count <= 4; count += 1) {
      await receiver.received(from + count);
      assert.equal(receiver.deliveries.length, from + count, 'one at a time');
      receiver.release();
    }
    assert.deepEqual(
      receiver.deliveries.slice(from).map(({ json }) => recordOf(json)),
      records,
    );
  });

  await t.test('the order outlasts a changed URL and a time in which the webhook is disabled', async (t) => {
    // It may fail often before its URL changes.
    const { id } = await webhook({ ordering: 'record', retry_max: 50, retry_backoff: 'fixed' });
    t.after(() => admin.delete(`${path}/${id}`));
    receiver.behave((path) => (path === '/hook' ? { status: 503 } : { status: 200 }));
    const record = await write(3);
    await eventually('it fails', () => arrived(receiver, record).length > 0);
    await admin.patch(`${path}/${id}`, { enabled: false });
    await admin.patch(`${path}/${id}`, { url: new URL('/moved', receiver.url).href });
    await admin.patch(`${path}/${id}`, { enabled: true, filter: 'record.n >= 0' });
    await admin.patch(`/api/v1/steps/${record}`, { n: 3 });
    const moved = () =>
      receiver.deliveries.filter(({ path }) => path === '/moved').map(({ json }) => at(json, 'data.record.n'));
    await eventually('all arrive at the new URL', () => moved().length >= 4);
    assert.deepEqual(moved(), [0, 1, 2, 3]);
    assert.deepEqual(new Set(arrived(receiver, record).slice(0, -4)), new Set([0]), 'the next ones wait for the first');
  });

  await t.test("an owner's webhook has an order too", async (t) => {
    await admin.post('/api/v1/collections', { name: 'clubs', fields: [] });
    await admin.patch('/api/v1/collections/steps', { webhook_rule: '@owner.id != ""' });
    await admin.patch('/api/v1/admin/settings', {
      'webhooks.owners.clubs': JSON.stringify({ hosts: [new URL(receiver.url).origin] }),
    });
    const { id: club } = await admin.create('clubs', {});
    const { id } = await webhook({ ordering: 'record', owner: { collection: 'clubs', id: club } });
    t.after(() => admin.delete(`${path}/${id}`));
    receiver.behave('hang');
    const record = await write(3);
    for (const expected of [[0], [0, 1], [0, 1, 2]]) {
      await has(record, expected);
      receiver.release();
    }
    const status = await admin.get(`/api/v1/webhooks/${id}/status?owner=clubs/${club}`);
    assert.equal(at(status.json, 'data.blocking'), null);
  });
});
