import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBusReader } from '../harness/bus-reader.ts';
import { eventually } from '../harness/eventually.ts';
import { textAt } from '../harness/json.ts';
import { receivedRecordIds, startReceiver } from '../harness/receiver.ts';
import { createGround, startStack } from '../harness/stack.ts';
import { createWebhook } from '../harness/webhook.ts';

/**
 * A minute or less: what counts is that it is longer than every wait there is, the longest of
 * which is that for three pings without an answer, 30 s: acknowledgements and retries wait for 5 s, the consumer for 10.
 */
test('the bus hangs until it is given up, dies, and comes back: writes go on all the while, and nothing is lost', async () => {
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
  // Who balances load by it must not take out every replica at once.
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
  await writeUntil('lost the bus');
  await ground.bus.kill();
  for (let count = 0; count < 10; count += 1) await write();
  await ground.bus.start();
  await using bus = await openBusReader(stack.natsUrl);
  const missingOf = (ids: readonly string[]): string[] => {
    const arrived = new Set(ids);
    return [...written].filter((id) => !arrived.has(id));
  };
  await eventually(
    'every event is on the stream and at the receiver',
    () => {
      assert.deepEqual(missingOf(bus.events.map(({ body }) => textAt(body, 'data.record.id'))), []);
      assert.deepEqual(missingOf(receivedRecordIds(receiver)), []);
      return true;
    },
    { timeoutMs: 30_000 },
  );
  assert.equal(receivedRecordIds(receiver).length, written.size, 'each is delivered once');
});
