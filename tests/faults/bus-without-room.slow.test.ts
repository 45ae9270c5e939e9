import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWebhook } from '../harness/clients/webhook.ts';
import { eventually } from '../harness/eventually.ts';
import { at } from '../harness/json.ts';
import { startEmbeddedNats } from '../harness/servers/embedded-nats.ts';
import { startReceiver } from '../harness/servers/receiver.ts';
import { createDatabase } from '../harness/servers/servers.ts';
import { createGround, startStack } from '../harness/stacks/stack.ts';

const mebibyte = 1024 ** 2;

test('events go on when the bus has less room than when it made the stream [operation §6.2]', async () => {
  await using bus = await startEmbeddedNats();
  await bus.limitStore(300 * mebibyte);
  await using ground = await createGround(await createDatabase(), bus);
  await using receiver = await startReceiver();
  const first = await startStack({ topology: 'one', ground });
  const admin = await first.admin();
  await admin.post('/api/v1/collections', { name: 'notes', type: 'base', fields: [{ name: 'body', type: 'text' }] });
  await createWebhook(admin, receiver.url, ['notes.*']);
  await admin.create('notes', { body: 'before' });
  await eventually('the first event is delivered', () => receiver.deliveries.length === 1);
  await first.stop();

  await bus.limitStore(100 * mebibyte);
  await using second = await startStack({ topology: 'one', ground });
  await (await second.admin()).create('notes', { body: 'after' });
  await eventually('the second event is delivered', () =>
    receiver.deliveries.some(({ json }) => at(json, 'data.record.body') === 'after'),
  );
  assert.match(second.process.lines.join('\n'), /the bus has no room for an event stream this large/);
});
