import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { openLive } from '../harness/clients/live-client.ts';
import { eventually } from '../harness/eventually.ts';
import { startStack } from '../harness/stacks/stack.ts';
import { createNotes } from '../scenarios/realtime/notes.ts';

/** How long the reader may continue without connections: 30 s (realtime §6.2), and more on a busy machine. */
const asleepWithin = { timeoutMs: 90_000, intervalMs: 500 };

test('without live connections nobody reads the stream, and a client that returns misses nothing [realtime §4.2]', async () => {
  await using stack = await startStack({ topology: 'processes' });
  await createNotes(stack);
  const admin = await stack.admin();
  await using readers = await openReaders(stack.natsUrl);
  assert.equal(await readers.count(), 0);
  const live = await openLive(stack.url, [{ collection: 'notes' }]);
  await live.arrived('ready');
  await admin.create('notes', { rank: 1 });
  await live.arrived('create');
  assert.equal(await readers.count(), 1);
  const cursor = live.lastEventId ?? '';
  live.close();
  await eventually('nobody reads', async () => (await readers.count()) === 0, asleepWithin);

  for (const rank of [2, 3, 4]) await admin.create('notes', { rank });
  await using back = await openLive(stack.url, [{ collection: 'notes' }], { headers: { 'Last-Event-ID': cursor } });
  await back.arrived('create', 3);
  await admin.create('notes', { rank: 5 });
  const created = await back.arrived('create', 4);
  assert.deepEqual(
    created.map(({ data }) => (data.record as { readonly rank: number }).rank),
    [2, 3, 4, 5],
  );
  assert.ok((await readers.count()) > 0);
});

/** Counts the stream readers that are not durable: the realtime service's. */
async function openReaders(natsUrl: string) {
  const { host, username: user, password: pass } = new URL(natsUrl);
  const connection = await connect({ servers: host, ...(user && { user, pass }) });
  const manager = await jetstreamManager(connection);
  return {
    async count(): Promise<number> {
      const consumers = await manager.consumers.list('EVENTS').next();
      return consumers.filter(({ config }) => config.durable_name === undefined).length;
    },
    [Symbol.asyncDispose]: () => connection.close(),
  };
}
