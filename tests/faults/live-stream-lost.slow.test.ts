import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openLive } from '../harness/clients/live-client.ts';
import { eventually } from '../harness/eventually.ts';
import { startEmbeddedNats } from '../harness/servers/embedded-nats.ts';
import { createGround, startStack } from '../harness/stacks/stack.ts';
import { createNotes } from '../scenarios/realtime/notes.ts';

test('a stream that lost its data causes a resync, and live connections continue [realtime §4.3]', async () => {
  await using stack = await startStack({ topology: 'one' });
  await createNotes(stack);
  const admin = await stack.admin();
  await using live = await openLive(stack.url, [{ collection: 'notes' }]);
  await live.arrived('ready');
  for (let n = 0; n < 20; n += 1) await admin.create('notes', { rank: n });
  await live.arrived('create', 20);
  const cursor = live.lastEventId ?? '';
  await stack.ground.bus.wipe();
  const [resync] = await live.arrived('resync');
  assert.equal(resync?.data.reason, 'stream_recreated');
  const note = await admin.create('notes', { text: 'after' });
  await eventually('the new note arrives', () =>
    live.messages.some(({ type, data }) => type === 'create' && JSON.stringify(data.record) === JSON.stringify(note)),
  );
  assert.equal(live.isClosed, false);
  assert.notEqual(live.lastEventId?.split('-')[0], cursor.split('-')[0]);
  await using resumed = await openLive(stack.url, [{ collection: 'notes', snapshot: true }], {
    headers: { 'Last-Event-ID': cursor },
  });
  await resumed.arrived('resync');
  await resumed.arrived('snapshot');
});

test('a reused stream sequence number hides no change [realtime §4.3]', async () => {
  const bus = await startEmbeddedNats();
  await using ground = await createGround(undefined, bus);
  await using stack = await startStack({ topology: 'one', ground });
  await createNotes(stack);
  const admin = await stack.admin();
  await using live = await openLive(stack.url, [{ collection: 'notes', snapshot: { perPage: 1000 } }]);
  await live.arrived('snapshot');
  await admin.create('notes', { rank: 0 });
  await live.arrived('create');
  await bus.keepCopy();
  for (let rank = 1; rank < 10; rank += 1) await admin.create('notes', { rank });
  await live.arrived('create', 10);
  const cursor = live.lastEventId ?? '';
  // The stream has lost nine events, and reuses their numbers for the next events.
  await bus.goBack();
  const reused = await openLive(stack.url, [{ collection: 'notes' }]);
  for (let rank = 10; rank < 30; rank += 1) await admin.create('notes', { rank });
  await reused.arrived('create', 20);
  await using _reused = reused;
  const [resync] = await live.arrived('resync');
  assert.equal(resync?.data.reason, 'stream_recreated');
  await live.arrived('snapshot', 2);
  await using resumed = await openLive(stack.url, [{ collection: 'notes', snapshot: { perPage: 1000 } }], {
    headers: { 'Last-Event-ID': cursor },
  });
  const [again] = await resumed.arrived('resync');
  assert.equal(again?.data.reason, 'stream_recreated');
  const [snapshot] = await resumed.arrived('snapshot');
  assert.equal(snapshot?.data.total, 30);
  await eventually('the first list has every note', () => {
    const ids = new Set<unknown>();
    for (const { type, data } of live.messages) {
      const shown = type === 'snapshot' ? (data.records as { id: string }[]) : [data.record as { id: string }];
      if (type === 'snapshot') ids.clear();
      for (const record of shown) if (record) ids.add(record.id);
    }
    return ids.size === 30;
  });
});
