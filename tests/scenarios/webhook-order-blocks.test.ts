import assert from 'node:assert/strict';
import { createWebhook, deliveriesOf, webhooksPath as path } from '../harness/clients/webhook.ts';
import { eventually } from '../harness/eventually.ts';
import { at, type JsonObject, listAt, objectAt } from '../harness/json.ts';
import { startReceiver } from '../harness/servers/receiver.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

onEachTopology('a dead delivery blocks its record, or is skipped [webhooks §2.10]', async (t, target) => {
  await using receiver = await startReceiver();
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'stages', fields: [{ name: 'n', type: 'number' }] });
  /** Only these values of `n` are refused. */
  let refused: readonly unknown[] = [];
  receiver.behave((_path, body) => ({ status: refused.includes(at(body, 'data.record.n')) ? 500 : 200 }));

  const webhook = async (t: { after(end: () => Promise<unknown>): void }, members: object = {}): Promise<unknown> => {
    const { id } = await createWebhook(admin, receiver.url, ['stages.*'], {
      ordering: 'record',
      retry_max: 0,
      ...members,
    });
    t.after(() => admin.delete(`${path}/${id}`));
    return id;
  };
  const write = async (count: number): Promise<string> => {
    const { id } = await admin.create('stages', { n: 0 });
    for (let n = 1; n < count; n += 1) await admin.patch(`/api/v1/stages/${id}`, { n });
    return String(id);
  };
  const seen = (record: string): unknown[] =>
    receiver.deliveries
      .filter(({ json }) => at(json, 'data.record.id') === record)
      .map(({ json }) => at(json, 'data.record.n'));
  const arrive = (record: string, expected: readonly unknown[]) =>
    eventually(`${expected} arrive`, () => {
      const values = seen(record);
      if (values.length < expected.length) throw new Error(JSON.stringify(values));
      assert.deepEqual(values, expected);
      return true;
    });
  const statusOf = async (id: unknown): Promise<JsonObject> =>
    objectAt((await admin.get(`${path}/${id}/status`)).json, 'data');
  const blocked = (id: unknown, key: string): Promise<string> =>
    eventually('a delivery blocks', async () => {
      const status = await statusOf(id);
      assert.equal(at(status, 'blocking.key'), key);
      return String(at(status, 'blocking.delivery_id'));
    });
  const unblock = (id: unknown, body: object) => admin.post(`${path}/${id}/unblock`, body, 200);

  await t.test('the status names it, and skip continues behind it', async (t) => {
    const id = await webhook(t);
    refused = [1];
    const record = await write(3);
    const delivery = await blocked(id, record);
    const other = await admin.create('stages', { n: 7 });
    await arrive(String(other.id), [7]);
    await eventually('only its record waits', async () => {
      const { blocked, pending } = await statusOf(id);
      assert.deepEqual([blocked, pending], [1, 1]);
      return true;
    });
    assert.deepEqual(seen(record), [0, 1]);
    const waiting = (await deliveriesOf(admin, id, '?status=pending'))[0];
    assert.equal(waiting?.next_attempt_at, null);
    assert.equal((await unblock(id, { action: 'skip', delivery_id: delivery })).id, delivery);
    await arrive(record, [0, 1, 2]);
    assert.equal((await statusOf(id)).blocking, null);
    const dead = await deliveriesOf(admin, id, '?status=dead');
    assert.deepEqual(
      dead.map((one) => one.id),
      [delivery],
    );
  });

  await t.test('retry attempts it once more', async (t) => {
    const id = await webhook(t);
    refused = [1];
    const record = await write(3);
    await blocked(id, record);
    assert.equal((await unblock(id, { action: 'retry' })).status, 'pending');
    await arrive(record, [0, 1, 1]);
    await blocked(id, record);
    refused = [];
    await unblock(id, { action: 'retry' });
    await arrive(record, [0, 1, 1, 1, 2]);
    await eventually('all are delivered', async () => (await deliveriesOf(admin, id, '?status=success')).length === 3);
    const delivery = (await deliveriesOf(admin, id)).find(({ attempt }) => attempt === 3);
    assert.equal(listAt(delivery ?? {}, 'attempts').length, 3);
  });

  await t.test('a redelivery takes its place; another one comes before what waits', async (t) => {
    const id = await webhook(t);
    refused = [1];
    const record = await write(3);
    const delivery = await blocked(id, record);
    const first = (await deliveriesOf(admin, id, '?status=success'))[0];
    await admin.post(`${path}/${id}/deliveries/${first?.id}/redeliver`, {});
    refused = [];
    await admin.post(`${path}/${id}/deliveries/${delivery}/redeliver`, {});
    await arrive(record, [0, 1, 0, 1, 2]);
    assert.equal((await statusOf(id)).blocking, null);
  });

  await t.test('a replay of dead deliveries takes their places', async (t) => {
    const id = await webhook(t);
    refused = [0];
    const records = [await write(2), await write(2)];
    await eventually('both are blocked', async () => (await statusOf(id)).blocked === 2);
    refused = [];
    const { count } = await admin.post(`${path}/${id}/replay`, { since: 0, status: 'dead' }, 200);
    assert.equal(count, 2);
    for (const record of records) await arrive(record, [0, 0, 1]);
  });

  await t.test('with skip the next one follows it; a change to skip ends blocks', async (t) => {
    const id = await webhook(t);
    refused = [0];
    const record = await write(2);
    await blocked(id, record);
    await admin.patch(`${path}/${id}`, { on_failure: 'skip' });
    await arrive(record, [0, 1]);
    await arrive(await write(3), [0, 1, 2]);
    assert.deepEqual([(await statusOf(id)).blocking, (await statusOf(id)).blocked], [null, 0]);
  });

  await t.test('a test event is sent although all else waits', async (t) => {
    const id = await webhook(t, { ordering: 'all' });
    refused = [0];
    await write(2);
    await eventually('it blocks all', async () => at(await statusOf(id), 'blocking') !== null);
    assert.equal(at(await statusOf(id), 'blocking.key'), null);
    await admin.post(`${path}/${id}/test`, {}, 200);
    await eventually(
      'the test event arrives',
      async () => (await deliveriesOf(admin, id, '?event=webhooks.test&status=success')).length === 1,
    );
    refused = [];
  });

  await t.test('other requests are refused', async (t) => {
    const id = await webhook(t);
    const rows: readonly (readonly [id: unknown, body: object, status: number, code: string])[] = [
      [id, { action: 'skip' }, 409, 'not_blocked'],
      [id, { action: 'retry', delivery_id: '0198a1b2-0000-7000-8000-000000000000' }, 409, 'not_blocked'],
      [id, { action: 'drop' }, 422, 'validation_failed'],
      [id, {}, 422, 'validation_failed'],
      [id, { action: 'skip', delivery_id: 'x' }, 422, 'validation_failed'],
      [id, { action: 'skip', all: true }, 422, 'validation_failed'],
      ['0', { action: 'skip' }, 404, 'not_found'],
    ];
    for (const [webhookId, body, status, code] of rows) {
      const answer = await admin.send('POST', `${path}/${webhookId}/unblock`, { body });
      assert.deepEqual([answer.status, at(answer.json, 'code')], [status, code], JSON.stringify(body));
    }
    const guest = await target.guest.send('POST', `${path}/${id}/unblock`, { body: { action: 'skip' } });
    assert.equal(guest.status, 401);
  });

  await t.test('two skips of one delivery skip one', async (t) => {
    const id = await webhook(t);
    refused = [0, 1];
    const record = await write(3);
    const delivery = await blocked(id, record);
    const answers = await Promise.all(
      Array.from({ length: 5 }, () =>
        admin.send('POST', `${path}/${id}/unblock`, { body: { action: 'skip', delivery_id: delivery } }),
      ),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409, 409, 409]);
    await arrive(record, [0, 1]);
    refused = [];
  });
});
