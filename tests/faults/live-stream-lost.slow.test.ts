import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../harness/eventually.ts';
import { openLive } from '../harness/live-client.ts';
import { startStack } from '../harness/stack.ts';
import { createNotes } from '../scenarios/realtime/notes.ts';

test('a stream that lost its data is a resync, and live connections go on [realtime §4.3]', async () => {
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
