import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { type BusEvent, openBusReader } from '../harness/clients/bus-reader.ts';
import { eventually } from '../harness/eventually.ts';
import { at, objectAt } from '../harness/json.ts';
import { differences, is } from '../harness/matching.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

onEachTopology('other systems read events from the bus', async (t, target) => {
  if (!target.natsUrl) return t.skip('the bus of this stack is not reachable');
  await using bus = await openBusReader(target.natsUrl, { isFromNow: true });
  const admin = await target.admin();
  await admin.post('/api/v1/collections', {
    name: 'orders',
    type: 'base',
    fields: [{ name: 'total', type: 'number' }],
  });
  const eventsOf = (id: string) => bus.events.filter(({ body }) => at(body, 'data.record.id') === id);
  const sentWith = (id: string): { headers: Record<string, string> } => ({ headers: { 'X-Request-Id': id } });
  const arrived = (id: string, count: number) =>
    eventually(`${count} events of ${id}`, () => {
      const events = eventsOf(id);
      return events.length >= count ? events : undefined;
    });

  await t.test('create, update and delete arrive in that order [events §2.2]', async () => {
    const record = await admin.create('orders', { total: 1 });
    const path = `/api/v1/orders/${record.id}`;
    await target.guest.send('PATCH', path, { body: { total: 2 }, ...sentWith('the-update') });
    await (await target.user()).send('DELETE', path);
    const [created, updated, deleted, ...more] = await arrived(record.id, 3);
    assert.deepEqual(more, []);
    const after = { id: record.id, total: 2, created: record.created, updated: is.number };
    assertBody(created, 'orders.create', { data: { record: { ...record } }, actor: { type: 'admin', id: is.uuid } });
    assertBody(updated, 'orders.update', {
      data: { record: after, previous: { ...record }, changed: ['total'] },
      actor: { type: 'guest', id: null },
      request_id: 'the-update',
    });
    assertBody(deleted, 'orders.delete', { data: { record: after }, actor: { type: 'user', id: is.uuid } });
  });

  await t.test('the headers name the event and its id [events §2.3]', async () => {
    const { id } = await admin.create('orders', {});
    const [event] = await arrived(id, 1);
    assert.ok(event);
    assert.equal(event.subject, 'events.orders.create');
    assert.deepEqual(
      differences(
        event.headers,
        is.containing({
          'Nats-Msg-Id': event.body.id,
          'Service-Event-Version': '1',
          'ce-id': event.body.id,
          'ce-specversion': '1.0',
          'ce-type': is.matching(/orders\.create$/),
          'ce-source': is.text,
          'ce-time': is.matching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        }),
      ),
      [],
    );
  });

  await t.test('events from concurrent writes to one record are in commit order [events §3.2]', async () => {
    const { id } = await admin.create('orders', { total: 0 });
    const writes = 40;
    await Promise.all(
      Array.from({ length: writes }, (_, total) => admin.patch(`/api/v1/orders/${id}`, { total: total + 1 })),
    );
    const events = await arrived(id, writes + 1);
    const versions = events.map(({ body }) => Number(at(body, 'data.record.updated')));
    assert.deepEqual(
      versions,
      versions.toSorted((a, b) => a - b),
    );
    const chained = events
      .slice(1)
      .map(({ body }, index) => at(body, 'data.previous.total') === at(events[index]?.body, 'data.record.total'));
    assert.deepEqual(chained, Array(writes).fill(true));
  });

  await t.test('all events match the published schemas [events §2.7]', async () => {
    const { envelope, records } = objectAt((await admin.get('/api/v1/admin/events/schema')).json, 'data');
    // Formats are not checked here, since the message test checks the values.
    const ajv = new Ajv2020({ validateFormats: false });
    const isEnvelope = ajv.compile(envelope as object);
    const isOrder = ajv.compile(objectAt(records, 'orders'));
    const orders = bus.events.filter(({ body }) => body.collection === 'orders');
    assert.ok(orders.length > 40);
    for (const { body } of orders) {
      assert.ok(isEnvelope(body), ajv.errorsText(isEnvelope.errors));
      assert.ok(isOrder(at(body, 'data.record')), ajv.errorsText(isOrder.errors));
    }
    const later = { ...orders[0]?.body, later: 1, actor: { type: 'user', id: null, later: 1 } };
    assert.ok(isEnvelope(later), 'a later version may add members');
    assert.equal(isOrder({ id: 'x', total: 'much', created: 1, updated: 1 }), false);
    assert.equal((await target.guest.get('/api/v1/admin/events/schema')).status, 401);
  });

  await t.test('a refused write publishes no event [events §3.1]', async () => {
    const body = { total: 'much' };
    await target.guest.send('POST', '/api/v1/orders', { body, ...sentWith('the-refused') });
    const { id } = await admin.create('orders', {});
    await arrived(id, 1);
    assert.ok(!bus.events.some((event) => event.body.request_id === 'the-refused'));
  });
});

function assertBody(event: BusEvent | undefined, label: string, expected: object): void {
  assert.ok(event);
  assert.deepEqual(
    differences(event.body, {
      id: is.uuid,
      event: label,
      timestamp: is.now,
      collection: 'orders',
      version: is.version,
      schema: is.text,
      request_id: is.text,
      ...expected,
    }),
    [],
  );
}
