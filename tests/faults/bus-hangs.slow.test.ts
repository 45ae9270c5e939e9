import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBusReader } from '../harness/clients/bus-reader.ts';
import { createWebhook } from '../harness/clients/webhook.ts';
import { eventually } from '../harness/eventually.ts';
import { textAt } from '../harness/json.ts';
import { receivedRecordIds, startReceiver } from '../harness/servers/receiver.ts';
import { createGround, startStack } from '../harness/stacks/stack.ts';

/**
 * The bus hangs for up to a minute, longer than every timeout: 30 s for three unanswered pings, 5 s for acknowledgements and
 * retries, 10 s for the consumer.
 */
test('while the bus hangs, dies and returns, writes continue and no event is lost', async () => {
  await using ground = await createGround();
  await using stack = await startStack({ topology: 'one', ground });
  await using receiver = await startReceiver();
  const admin = await stack.admin();
  await admin.post('/api/v1/collections', { name: 'meters', type: 'base', fields: [] });
  await createWebhook(admin, receiver.url, ['meters.*']);
  const written = new Set<string>();
  const write = async (): Promise<void> => {
    written.add((await stack.guest.create('meters', {})).id);
  };
  await write();
  await receiver.received(1);

  await ground.bus.freeze();
  // A load balancer must not remove all replicas at once.
  assert.equal((await stack.guest.get('/readyz')).status, 200);
  const writeUntil = (line: string) =>
    eventually(
      line,
      async () => {
        await write();
        return stack.process.lines.some((logged) => logged.includes(line));
      },
      { timeoutMs: 60_000, intervalMs: 250 },
    );
  await writeUntil('lost the connection to the bus');
  await ground.bus.kill();
  for (let count = 0; count < 10; count += 1) await write();
  await ground.bus.start();
  await using bus = await openBusReader(stack.natsUrl);
  const missingOf = (ids: readonly string[]): string[] => {
    const arrived = new Set(ids);
    return [...written].filter((id) => !arrived.has(id));
  };
  await eventually('every event is on the stream and at the receiver', () => {
    assert.deepEqual(missingOf(bus.events.map(({ body }) => textAt(body, 'data.record.id'))), []);
    assert.deepEqual(missingOf(receivedRecordIds(receiver)), []);
    return true;
  });
  assert.equal(receivedRecordIds(receiver).length, written.size, 'each event is delivered once');
});
