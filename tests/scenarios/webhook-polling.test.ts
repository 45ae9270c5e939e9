import assert from 'node:assert/strict';
import type { Client } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at, type JsonObject, listAt, objectAt, textAt } from '../harness/json.ts';
import { metricOf } from '../harness/metrics/metric.ts';
import { startReceiver } from '../harness/servers/receiver.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { adminPath, prepare } from './firms.ts';

const path = '/api/v1/webhooks';

interface Reader {
  readonly id: string;
  readonly key: string;
}

onEachTopology('events of a webhook with the type poll are read [webhooks §11]', async (t, target) => {
  await using receiver = await startReceiver();
  const { admin, ann, firms, setRule } = await prepare(target, receiver);
  const [north, south] = firms;
  const mine = `owner=firms/${north}`;

  const make = async (client: Client, place: string, members: object = {}): Promise<Reader> => {
    const { id, key } = await client.post(place, { name: 'Read', type: 'poll', events: ['orders.*'], ...members });
    return { id: String(id), key: String(key) };
  };
  const send = ({ id, key }: Reader, query = '') =>
    target.guest.send('GET', `${path}/${id}/events${query}`, { headers: { 'X-Webhook-Key': key } });
  async function read(reader: Reader, query = ''): Promise<{ data: readonly JsonObject[]; next: string }> {
    const { status, json, text } = await send(reader, query);
    assert.equal(status, 200, text);
    return { data: listAt(json, 'data'), next: textAt(json, 'next') };
  }
  /** Reads until `count` events have come after a place. */
  const readAll = (reader: Reader, count: number, after = '0') =>
    eventually(`${count} events`, async () => {
      const page = await read(reader, `?after=${after}`);
      if (page.data.length < count) throw new Error(JSON.stringify(page));
      return page;
    });
  const statesOf = (page: { readonly data: readonly JsonObject[] }) =>
    page.data.map((body) => at(body, 'data.record.state'));
  const order = (firm: string, state: string, margin = '1') => admin.create('orders', { firm, state, margin });
  const pendingOf = async ({ id }: Reader) => at((await admin.get(`${adminPath}/${id}/status`)).json, 'data.pending');

  await t.test('each once and in order, page by page, and again from an earlier place', async () => {
    const reader = await make(admin, adminPath, { filter: 'record.state != "hidden"' });
    for (const state of ['a', 'b', 'hidden', 'c', 'd', 'e']) await order(north, state);
    await eventually('five wait', async () => (await pendingOf(reader)) === 5);
    await eventually('they count as unread, not as pending deliveries', async () => {
      const names = ['recordbus_webhook_events_unread', 'recordbus_webhook_deliveries_pending'];
      const found = await Promise.all(names.map((name) => metricOf(admin, name)));
      assert.deepEqual(found, [5, 0]);
      return true;
    });
    const first = await read(reader, '?limit=2');
    const rest = await read(reader, `?after=${first.next}`);
    assert.deepEqual(
      [statesOf(first), statesOf(rest)],
      [
        ['a', 'b'],
        ['c', 'd', 'e'],
      ],
    );
    const none = await read(reader, `?after=${rest.next}`);
    assert.deepEqual(none, { data: [], next: rest.next });
    await order(north, 'f');
    const more = await readAll(reader, 1, rest.next);
    assert.deepEqual(statesOf(more), ['f']);
    assert.deepEqual(statesOf(await read(reader, `?after=${first.next}`)), ['c', 'd', 'e', 'f']);
    assert.equal(await pendingOf(reader), 0);
    const log = listAt((await admin.get(`${adminPath}/${reader.id}/deliveries`)).json, 'data');
    assert.deepEqual([...new Set(log.map(({ status }) => status))], ['success']);
    assert.equal(at(log[0] ?? {}, 'payload.data.record.state'), 'f');
  });

  await t.test('twenty readers at once get every event once, at one place', async () => {
    const reader = await make(admin, adminPath);
    const states = Array.from({ length: 30 }, (_, n) => `at once ${n}`);
    for (const state of states) await order(north, state);
    await eventually('they wait', async () => (await pendingOf(reader)) === states.length);
    await Promise.all(Array.from({ length: 20 }, () => read(reader, '?limit=7')));
    assert.deepEqual(statesOf(await readAll(reader, states.length)), states);
    await admin.delete(`${adminPath}/${reader.id}`);
  });

  await t.test('nothing is sent, and a disabled one waits', async () => {
    const reader = await make(admin, adminPath);
    await admin.send('POST', `${adminPath}/${reader.id}/test`);
    const [body] = (await readAll(reader, 1)).data;
    assert.equal(body?.event, 'webhooks.test');
    await order(north, 'before');
    await eventually('one waits', async () => (await pendingOf(reader)) === 1);
    await admin.patch(`${adminPath}/${reader.id}`, { enabled: false });
    assert.equal((await read(reader)).data.length, 1);
    await admin.patch(`${adminPath}/${reader.id}`, { enabled: true });
    await readAll(reader, 2);
    assert.equal(receiver.deliveries.length, 0);
    await admin.delete(`${adminPath}/${reader.id}`);
    assert.equal((await send(reader)).status, 401);
  });

  await t.test('an owner reads what its rule admits when it reads, without ruled fields', async () => {
    await setRule('firm = @owner.id');
    const reader = await make(ann, `${path}?${mine}`);
    const { id } = await order(north, 'kept');
    const taken = await order(north, 'taken away');
    await order(south, 'not theirs');
    await eventually('two wait', async () => (await pendingOf(reader)) === 2);
    await setRule('firm = @owner.id && state != "taken away"');
    const page = await readAll(reader, 1);
    assert.deepEqual(
      page.data.map((body) => at(body, 'data.record.id')),
      [id],
    );
    assert.equal(at(page.data[0] ?? {}, 'data.record.margin'), undefined);
    const log = listAt((await ann.get(`${path}/${reader.id}/deliveries?${mine}`)).json, 'data');
    assert.deepEqual(
      log.map((one) => at(one, 'payload.data.record.id')),
      [id],
      `${taken.id} is gone from the log`,
    );
    assert.deepEqual(log[0]?.payload, page.data[0], 'the log shows what was read');
    await setRule('firm = @owner.id');
    assert.equal((await ann.send('DELETE', `${path}/${reader.id}?${mine}`)).status, 200);
  });

  await t.test('only its own key opens it', async () => {
    const reader = await make(admin, adminPath);
    const other = await make(admin, adminPath);
    const plain = await admin.post(adminPath, { name: 'Called', url: receiver.url, events: ['nothing.*'] });
    assert.match(reader.key, /^whpk_/);
    assert.equal(plain.key, undefined);
    for (const [id, key] of [
      [reader.id, other.key],
      [reader.id, ''],
      [reader.id, 'x'.repeat(4000)],
      [String(plain.id), reader.key],
      ['nobody', reader.key],
    ] as const)
      assert.equal((await send({ id, key })).status, 401, `${id} ${key.slice(0, 20)}`);
    assert.equal((await admin.send('GET', `${path}/${reader.id}/events`)).status, 401, 'an admin needs the key too');
    const shown = objectAt((await admin.get(`${adminPath}/${reader.id}`)).json, 'data');
    assert.ok(!('key' in shown));
    const { json } = await admin.send('POST', `${adminPath}/${reader.id}/regenerate-secret`, { body: {} });
    assert.equal((await send(reader)).status, 401);
    assert.equal((await send({ id: reader.id, key: textAt(json, 'data.key') })).status, 200);
  });

  await t.test('wrong places, sizes and members are refused', async () => {
    const reader = await make(admin, adminPath);
    for (const query of ['?after=x', '?after=-1', '?after=9223372036854775808', `?after=${'9'.repeat(100)}`])
      assert.equal((await send(reader, query)).status, 400, query);
    assert.equal((await read(reader, '?after=9223372036854775807')).data.length, 0);
    for (const [body, place] of [
      [{ name: 'a', type: 'poll', url: receiver.url, events: ['*'] }, 'url'],
      [{ name: 'a', type: 'poll', events: ['*'], ordering: 'all' }, 'ordering'],
      [{ name: 'a', type: 'http', events: ['*'] }, 'url'],
      [{ name: 'a', type: 'push', url: receiver.url, events: ['*'] }, 'type'],
    ] as const) {
      const { status, json } = await admin.send('POST', adminPath, { body });
      assert.deepEqual([status, Object.keys(objectAt(json, 'details'))], [422, [place]]);
    }
    const changed = await admin.send('PATCH', `${adminPath}/${reader.id}`, { body: { url: receiver.url } });
    assert.equal(changed.status, 422);
    const whole = objectAt((await admin.get(`${adminPath}/${reader.id}`)).json, 'data');
    await admin.patch(`${adminPath}/${reader.id}`, { ...whole, name: 'Renamed' });
  });
});
