import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { openBusReader } from '../../harness/clients/bus-reader.ts';
import { createWebhook } from '../../harness/clients/webhook.ts';
import { eventually } from '../../harness/eventually.ts';
import { textAt } from '../../harness/json.ts';
import { refused } from '../../harness/refusals.ts';
import { startReceiver } from '../../harness/servers/receiver.ts';
import { runScenarios, type Scenario } from '../../harness/stacks/scenario.ts';
import type { Target } from '../../harness/stacks/target.ts';

/** Names and the subjects under which they are published. */
const good: readonly (readonly [name: string, subject: string | RegExp])[] = [
  ['order.shipped', 'events.order.shipped'],
  ['order shipped', 'events.order=20shipped'],
  ['bestellung.übergeben.📦', 'events.bestellung.=C3=BCbergeben.=F0=9F=93=A6'],
  ['>', 'events.=3E'],
  ['orders.>', 'events.orders.=3E'],
  ['..', 'events.=.=.='],
  ['ends.in.a.', 'events.ends.in.a.='],
  ['.begins.with.one', 'events.=.begins.with.one'],
  ['=20', 'events.=3D20'],
  ['$%&/"\\', 'events.=24=25=26=2F=22=5C'],
  ['$JS.API.STREAM.DELETE.EVENTS', 'events.=24JS.API.STREAM.DELETE.EVENTS'],
  ['notes.create', 'events.notes.create'],
  ['a'.repeat(255), /^events\.a{200}=[0-9a-f]{16}$/],
];
const bad = [
  ...['', ' ', ' before', 'behind ', 'a\nb', 'a\u0000b', 'a\u007fb', 'a'.repeat(256), 'a'.repeat(300)],
  ...['*', 'a*b', 'orders.*'],
  ...['webhooks.test', 'system.signed_in', 'system.', 'event_notes.create', 'event_notes.delete'],
];
const shortened = (name: string) => JSON.stringify(name).slice(0, 40);

/** Sends events with all kinds of names: valid ones reach the bus and the webhooks unchanged, others answer 422. */
export async function customEvents(t: TestContext, target: Target): Promise<void> {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'event_notes', type: 'base', fields: [] });
  await using receiver = await startReceiver();
  assert.ok(target.natsUrl);
  await using bus = await openBusReader(target.natsUrl, { isFromNow: true });
  await createWebhook(admin, `${receiver.url}/all`, ['*']);
  for (const [index, [name]] of good.entries()) await createWebhook(admin, `${receiver.url}/only/${index}`, [name]);
  const received = (path: string) =>
    receiver.deliveries.filter((delivery) => delivery.path === `/hook/${path}`).map(({ json }) => json);

  for (const [name, subject] of good)
    await t.test(`the event ${shortened(name)} has its exact name and a valid subject [events §2.1]`, async () => {
      const body = { event: name, payload: { of: name } };
      const answer = await admin.send('POST', '/api/x/tools/dispatch', { body });
      assert.equal(answer.status, 200, answer.text);
      const id = textAt(answer.json, 'data.id');
      const delivered = await eventually('the event is delivered', () =>
        received('all').find((json) => json.id === id),
      );
      const message = await eventually('the event is on the bus', () =>
        bus.events.find((event) => event.body.id === id),
      );
      for (const envelope of [delivered, message.body]) {
        assert.equal(envelope.event, name);
        assert.deepEqual(envelope.data, { of: name });
      }
      if (typeof subject === 'string') assert.equal(message.subject, subject);
      else assert.match(message.subject, subject);
    });

  await t.test('each event reaches only the webhook for its name [webhooks §1.3]', async () => {
    const names = () => good.map((_, index) => received(`only/${index}`).map(({ event }) => event));
    await eventually('all events are delivered', () => names().flat().length >= good.length);
    assert.deepEqual(
      names(),
      good.map(([name]) => [name]),
    );
  });

  const refusal = (name: string, body: object, field: string): Scenario => ({
    name,
    as: 'admin',
    request: 'POST /api/x/tools/dispatch',
    body,
    expect: refused.invalid(field),
    spec: 'extensions §6.2',
  });
  await runScenarios(t, target, [
    ...bad.map((event) => refusal(`an event with the name ${shortened(event)}`, { event, payload: {} }, 'event')),
    refusal('a payload over 1 MiB', { event: 'large', padding: 1024 * 1024 }, 'payload'),
  ]);
}
