import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { openBusReader } from '../../harness/bus-reader.ts';
import { eventually } from '../../harness/eventually.ts';
import { textAt } from '../../harness/json.ts';
import { startReceiver } from '../../harness/receiver.ts';
import { refused } from '../../harness/refusals.ts';
import { runScenarios, type Scenario } from '../../harness/scenario.ts';
import type { Target } from '../../harness/target.ts';
import { createWebhook } from '../../harness/webhook.ts';

/** Names and the subjects that they are published under. */
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
const shortly = (name: string) => JSON.stringify(name).slice(0, 40);

/** Any name that is text reaches webhooks as it is, and those that listen to just it; what can't be one is 422. */
export async function customEvents(t: TestContext, target: Target): Promise<void> {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'event_notes', type: 'base', fields: [] });
  await using receiver = await startReceiver();
  assert.ok(target.natsUrl);
  await using bus = await openBusReader(target.natsUrl);
  await createWebhook(admin, `${receiver.url}/all`, ['*']);
  for (const [index, [name]] of good.entries()) await createWebhook(admin, `${receiver.url}/only/${index}`, [name]);
  const heard = (path: string) =>
    receiver.deliveries.filter((delivery) => delivery.path === `/hook/${path}`).map(({ json }) => json);

  for (const [name, subject] of good)
    await t.test(`the event ${shortly(name)} has its exact name, and a subject that is valid`, async () => {
      const body = { event: name, payload: { of: name } };
      const answer = await admin.send('POST', '/api/x/tools/dispatch', { body });
      assert.equal(answer.status, 200, answer.text);
      const id = textAt(answer.json, 'data.id');
      const told = await eventually('its delivery', () => heard('all').find((json) => json.id === id));
      const message = await eventually('its message', () => bus.events.find((event) => event.body.id === id));
      for (const envelope of [told, message.body]) {
        assert.equal(envelope.event, name);
        assert.deepEqual(envelope.data, { of: name });
      }
      if (typeof subject === 'string') assert.equal(message.subject, subject);
      else assert.match(message.subject, subject);
    });

  await t.test('each went to the webhook that listens to it by its name, and to no other', async () => {
    const names = () => good.map((_, index) => heard(`only/${index}`).map(({ event }) => event));
    await eventually('their deliveries', () => names().flat().length >= good.length);
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
    spec: 'docs/extensions.md',
  });
  await runScenarios(t, target, [
    ...bad.map((event) => refusal(`no event is called ${shortly(event)}`, { event, payload: {} }, 'event')),
    refusal('a payload has up to 1 MiB', { event: 'large', padding: 1024 * 1024 }, 'payload'),
  ]);
}
