import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBusReader } from '../harness/clients/bus-reader.ts';
import { createWebhook } from '../harness/clients/webhook.ts';
import { committedIds, everyRecordArrives, writeBurst } from '../harness/clients/write-burst.ts';
import { eventually } from '../harness/eventually.ts';
import { at, textAt } from '../harness/json.ts';
import { receivedRecordIds, startReceiver } from '../harness/servers/receiver.ts';
import { createGround, startStack } from '../harness/stacks/stack.ts';

const patience = { timeoutMs: 120_000 };

test('events are published again after the bus has lost its data, and each is delivered once', async () => {
  await using ground = await createGround();
  await using stack = await startStack({ topology: 'one', ground });
  await using receiver = await startReceiver();
  const admin = await stack.admin();
  await admin.post('/api/v1/collections', { name: 'meters', type: 'base', fields: [] });
  await createWebhook(admin, receiver.url, ['meters.*']);
  let wiping: Promise<void> | undefined;
  const created = await writeBurst({
    url: stack.url,
    collection: 'meters',
    count: 400,
    parallel: 10,
    onAnswered(answered) {
      if (answered === 150) wiping = ground.bus.wipe();
    },
  });
  assert.equal(created, 400, 'no write fails');
  await wiping;
  assert.deepEqual(await everyRecordArrives(admin, receiver, 'meters'), []);
  await using bus = await openBusReader(stack.natsUrl);
  const committed = await committedIds(admin, 'meters');
  await eventually(
    'the stream has every event again',
    () => {
      const seen = new Set(bus.events.map(({ body }) => textAt(body, 'data.record.id')));
      return [...committed].every((id) => seen.has(id));
    },
    patience,
  );
});

test('a full stream drops read events; unread ones for consumers in events.kept_for stay, and health reports the problem', async () => {
  await using ground = await createGround();
  await using receiver = await startReceiver();
  const environment = { SERVICE_EVENTS_MAX_BYTES: String(1024 ** 2) };
  await using stack = await startStack({ topology: 'one', ground, environment });
  const admin = await stack.admin();
  await admin.patch('/api/v1/admin/settings', { 'metrics.enabled': '1' });
  await admin.post('/api/v1/collections', { name: 'tomes', type: 'base', fields: [{ name: 'text', type: 'text' }] });
  await createWebhook(admin, receiver.url, ['tomes.*']);
  const write = () =>
    writeBurst({ url: stack.url, collection: 'tomes', count: 60, parallel: 5, body: { text: 'x'.repeat(50_000) } });
  const readiness = async () => textAt((await admin.get('/readyz')).json, 'data.checks.records');
  const metric = async (name: string) =>
    Number(
      new RegExp(`^recordbus_stream_${name}\\{.*\\} (.*)$`, 'm').exec((await admin.get('/api/v1/metrics')).text)?.[1],
    );

  assert.equal(await write(), 60, 'no write fails');
  assert.deepEqual(
    await everyRecordArrives(admin, receiver, 'tomes'),
    [],
    'events of three times the size of the stream',
  );

  await admin.patch('/api/v1/admin/settings', { 'events.kept_for': 'crm' });
  assert.equal(await write(), 60, 'no write fails');
  await eventually('the log has the reason', () =>
    stack.process.lines.some((line) => line.includes('events wait in the outbox: the event stream is full')),
  );
  await eventually(
    'readiness reports it',
    async () => /is full .* consumer crm does not exist/.test(await readiness()),
    patience,
  );
  const ofGuest = await stack.guest.get('/readyz');
  assert.equal(ofGuest.status, 200);
  assert.equal(textAt(ofGuest.json, 'data.checks.records'), 'degraded');
  assert.equal(await metric('full'), 1);
  assert.equal(await metric('room_seconds'), 0);

  await admin.patch('/api/v1/admin/settings', { 'events.kept_for': '' });
  assert.deepEqual(await everyRecordArrives(admin, receiver, 'tomes'), []);
  await eventually('the problem is over', () =>
    stack.process.lines.some((line) => line.includes('the event stream has room again')),
  );
});

test('an event larger than a message is published as a reference and delays no other', async () => {
  await using stack = await startStack({ topology: 'one' });
  await using receiver = await startReceiver();
  await using bus = await openBusReader(stack.natsUrl);
  const admin = await stack.admin();
  const fields = [
    { name: 'text', type: 'text' },
    { name: 'n', type: 'number' },
  ];
  await admin.post('/api/v1/collections', { name: 'tomes', type: 'base', fields });
  await createWebhook(admin, receiver.url, ['tomes.*']);
  const text = 'é'.repeat(300_000);
  const tome = await admin.create('tomes', { text, n: 1 });
  // Together, the record and the previous one exceed the message limit (1 MiB).
  await admin.patch(`/api/v1/tomes/${tome.id}`, { n: 2 });
  await admin.patch(`/api/v1/tomes/${tome.id}`, { text: 'short' });
  await admin.patch(`/api/v1/tomes/${tome.id}`, { n: 3 });
  await receiver.received(4);
  const update = receiver.deliveries.find(
    ({ json }) => at(json, 'data.record.n') === 2 && at(json, 'data.previous.n') === 1,
  );
  assert.deepEqual([at(update?.json, 'data.record.text'), at(update?.json, 'data.previous.text')], [text, text]);
  const events = await eventually('four messages are published', () =>
    bus.events.length === 4 ? bus.events : undefined,
  );
  const reference = events.find(({ body }) => body.id === update?.json.id);
  assert.deepEqual(
    [reference?.body.data, at(reference?.body, 'reference.type'), reference?.headers['ce-subject']],
    [null, 'large_event', `tomes/${tome.id}`],
  );
});

test('an event that is on the stream twice is delivered once, and invalid messages delay nothing', async () => {
  await using stack = await startStack({ topology: 'one' });
  await using receiver = await startReceiver();
  await using bus = await openBusReader(stack.natsUrl);
  const admin = await stack.admin();
  await admin.post('/api/v1/collections', { name: 'notes', type: 'base', fields: [] });
  await createWebhook(admin, receiver.url, ['*']);
  await admin.create('notes', {});
  await receiver.received(1);
  const [event] = await eventually('the event is published', () => (bus.events.length > 0 ? bus.events : undefined));
  assert.ok(event);

  // The stream drops a message with the id that an event had within the last two minutes, and accepts it under another
  // id.
  const republish = (messageId: string) =>
    bus.publish(event.subject, JSON.stringify(event.body), event.headers, messageId);
  assert.equal(await republish(String(event.headers['Nats-Msg-Id'])), 'duplicate');
  assert.equal(await republish('outside of the window'), 'stored');
  for (const [index, garbage] of [
    '{',
    '{"id":1}',
    '\u0000',
    JSON.stringify({ ...event.body, id: 'no uuid' }),
  ].entries())
    await bus.publish('events.notes.create', garbage, {}, `garbage ${index}`);

  await admin.create('notes', {});
  await receiver.received(2);
  assert.equal(new Set(receivedRecordIds(receiver)).size, 2);
});
