import assert from 'node:assert/strict';
import { verifyDelivery } from '../harness/clients/signature.ts';
import { deliveriesOf, webhooksPath as path } from '../harness/clients/webhook.ts';
import { eventually } from '../harness/eventually.ts';
import { at, listAt, objectAt } from '../harness/json.ts';
import { startReceiver } from '../harness/servers/receiver.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { eventsOf, longMs, numbersOf, prepareBatches } from './batched-deliveries.ts';

onEachTopology('batches of deliveries [webhooks §2.11]', async (t, target) => {
  await using receiver = await startReceiver();
  const { admin, webhook, create, since, allIn } = await prepareBatches(target, receiver, 'parts');

  await t.test('a full one is sent at once, signed as a whole, and each delivery is in the log', async (t) => {
    const from = receiver.deliveries.length;
    const { id, secret, batch } = await webhook(t, { max: 3, wait_ms: longMs });
    assert.deepEqual(batch, { max: 3, wait_ms: longMs });
    await create(1, 2, 3);
    await receiver.received(from + 1);
    const [request = assert.fail('nothing arrived')] = since(from);
    assert.deepEqual(numbersOf(request).toSorted(), [1, 2, 3]);
    verifyDelivery(request.headers, request.text, String(secret));
    assert.equal(request.headers['x-service-event'], 'webhooks.batch');
    assert.equal(request.headers['x-service-delivery'], request.headers['webhook-id']);
    const logged = await allIn(id, 'success', 3);
    for (const one of logged) {
      assert.deepEqual([one.batch_id, one.attempt, one.event], [request.headers['webhook-id'], 1, 'parts.create']);
      const event = eventsOf(request).find((sent) => sent.id === one.event_id);
      assert.deepEqual(one.payload, event);
    }
  });

  await t.test('one that is not full is sent after its wait, as a list too', async (t) => {
    const from = receiver.deliveries.length;
    const { id, secret } = await webhook(t, { max: 100, wait_ms: 50 });
    await create(4);
    await allIn(id, 'success', 1);
    await create(5, 6);
    await allIn(id, 'success', 3);
    const requests = since(from);
    assert.deepEqual(requests.flatMap(numbersOf).toSorted(), [4, 5, 6]);
    for (const { headers, text } of requests) verifyDelivery(headers, text, String(secret));
  });

  await t.test('a retry has the same id and the same deliveries, and new ones wait for another batch', async (t) => {
    const from = receiver.deliveries.length;
    const { id } = await webhook(t, { max: 2, wait_ms: longMs });
    receiver.behave({ status: 500 }, { status: 200 });
    await create(1, 2, 3);
    const [first, second] = await eventually('the retry arrives', () => {
      const sent = since(from);
      assert.ok(sent.length >= 2);
      return sent;
    });
    assert.equal(first?.text, second?.text);
    assert.equal(first?.headers['webhook-id'], second?.headers['webhook-id']);
    for (const { attempt } of await allIn(id, 'success', 2)) assert.equal(attempt, 2);
    await allIn(id, 'pending', 1);
    await create(4);
    await allIn(id, 'success', 4);
    const last = since(from).map(numbersOf).at(-1);
    assert.deepEqual([last?.length, last?.includes(4)], [2, true]);
    assert.deepEqual(since(from).slice(1).flatMap(numbersOf).toSorted(), [1, 2, 3, 4]);
  });

  await t.test('a receiver may abort one, or disable the webhook', async (t) => {
    const { id } = await webhook(t, { max: 2, wait_ms: longMs });
    receiver.behave({ status: 500, headers: { 'webhook-delivery': 'abort-message' } });
    await create(1, 2);
    for (const { attempt } of await allIn(id, 'dead', 2)) assert.equal(attempt, 1);
    receiver.behave({ status: 200, headers: { 'webhook-delivery': 'disable' } });
    await create(3, 4);
    await allIn(id, 'success', 2);
    await eventually('it is disabled', async () => {
      assert.equal(at((await admin.get(`${path}/${id}/status`)).json, 'data.state'), 'disabled');
      return true;
    });
  });

  await t.test('it counts as one failure', async (t) => {
    const { id } = await webhook(t, { max: 6, wait_ms: longMs }, { retry_max: 0 });
    receiver.behave({ status: 500 });
    await create(1, 2, 3, 4, 5, 6);
    await allIn(id, 'dead', 6);
    await eventually('the failure is counted', async () => {
      assert.equal(at((await admin.get(`${path}/${id}/status`)).json, 'data.failures'), 1);
      return true;
    });
  });

  await t.test('redeliveries, replays and test events are in lists', async (t) => {
    const { id } = await webhook(t, { max: 2, wait_ms: 0 });
    await create(1, 2);
    const [{ id: delivery, event_id } = assert.fail('no delivery')] = await allIn(id, 'success', 2);
    let from = receiver.deliveries.length;
    await admin.post(`${path}/${id}/deliveries/${delivery}/redeliver`, {});
    await receiver.received(from + 1);
    assert.deepEqual(
      since(from)
        .flatMap(eventsOf)
        .map((event) => event.id),
      [event_id],
    );
    from = receiver.deliveries.length;
    const { count } = await admin.post(`${path}/${id}/replay`, { since: 0 }, 200);
    assert.equal(count, 2);
    await allIn(id, 'success', 5);
    assert.deepEqual(since(from).flatMap(numbersOf).toSorted(), [1, 2]);
    from = receiver.deliveries.length;
    await admin.post(`${path}/${id}/test`, {}, 200);
    await receiver.received(from + 1);
    assert.deepEqual(
      since(from)
        .flatMap(eventsOf)
        .map(({ event }) => event),
      ['webhooks.test'],
    );
  });

  await t.test('none is larger than 1 MB, unless it is one delivery', async (t) => {
    const from = receiver.deliveries.length;
    const { id } = await webhook(t, { max: 3, wait_ms: 100 });
    const text = 'a'.repeat(450_000);
    for (const n of [0, 1, 2]) await admin.create('parts', { n, text });
    await allIn(id, 'success', 3);
    const requests = since(from);
    assert.deepEqual(requests.flatMap(numbersOf).toSorted(), [0, 1, 2]);
    for (const { text } of requests) assert.ok(text.length <= 1024 * 1024);
    const ids = requests.flatMap(eventsOf).map((event) => at(event, 'data.record.id'));
    for (const record of ids) await admin.patch(`/api/v1/parts/${record}`, { text: 'b'.repeat(600_000) });
    await allIn(id, 'success', 6);
    const updates = since(from).slice(requests.length);
    assert.deepEqual(
      updates.map((request) => eventsOf(request).length),
      [1, 1, 1],
    );
    for (const update of updates) assert.ok(update.text.length > 1024 * 1024);
  });

  await t.test('without batches again, what waits is sent alone', async (t) => {
    const from = receiver.deliveries.length;
    const { id } = await webhook(t, { max: 3, wait_ms: longMs });
    await create(1, 2);
    await eventually('they wait', async () => {
      assert.equal((await deliveriesOf(admin, id, '?status=pending')).length, 2);
      return true;
    });
    const changed = await admin.patch(`${path}/${id}`, { batch: null });
    assert.equal(changed.batch, null);
    await allIn(id, 'success', 2);
    assert.deepEqual(
      since(from)
        .map(({ json }) => at(json, 'data.record.n'))
        .toSorted(),
      [1, 2],
    );
  });

  for (const [what, batch] of Object.entries({
    'an empty batch': { max: 0 },
    'a large batch': { max: 101 },
    'no size': { wait_ms: 1 },
    'a negative wait': { max: 2, wait_ms: -1 },
    'a long wait': { max: 2, wait_ms: 60_001 },
    'an unknown member': { max: 2, colour: 'red' },
    'a number': 5,
  }))
    await t.test(`${what} is 422`, async () => {
      const { status, json } = await admin.send('POST', path, {
        body: { name: 'a', url: receiver.url, events: ['*'], batch },
      });
      assert.equal(status, 422);
      assert.match(Object.keys(objectAt(json, 'details')).join(), /^batch/);
    });

  await t.test('a webhook whose events are read has none', async () => {
    const body = { name: 'a', type: 'poll', events: ['*'] };
    const refused = await admin.send('POST', path, { body: { ...body, batch: { max: 2 } } });
    assert.deepEqual([refused.status, Object.keys(objectAt(refused.json, 'details'))], [422, ['batch']]);
    const { id } = await admin.post(path, body);
    const patched = await admin.send('PATCH', `${path}/${id}`, { body: { batch: { max: 2 } } });
    assert.deepEqual([patched.status, Object.keys(objectAt(patched.json, 'details'))], [422, ['batch']]);
    assert.deepEqual(listAt((await admin.get(`${path}?perPage=1`)).json, 'data')[0]?.batch, null);
    await admin.delete(`${path}/${id}`);
  });
});
