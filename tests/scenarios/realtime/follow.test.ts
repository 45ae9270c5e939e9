import assert from 'node:assert/strict';
import { openLive } from '../../harness/clients/live-client.ts';
import { at } from '../../harness/json.ts';
import { onEachTopology } from '../../harness/stacks/target.ts';
import { createNotes, withoutHeartbeats } from './notes.ts';

onEachTopology('changes reach who follows them', async (t, target) => {
  await createNotes(target);
  const admin = await target.admin();

  await t.test('create, update and delete arrive in order, with their versions [realtime §3.2]', async () => {
    await using live = await openLive(target.url, [{ collection: 'notes' }]);
    assert.equal(live.status, 200, live.text);
    assert.match(live.headers['content-type'] ?? '', /^text\/event-stream/);
    await live.arrived('ready');
    const note = await admin.create('notes', { text: 'a', rank: 1 });
    const path = `/api/v1/notes/${note.id}`;
    await admin.patch(path, { rank: 2 });
    await admin.delete(path);
    const [deleted] = await live.arrived('delete');
    const [created] = await live.arrived('create');
    const [updated] = await live.arrived('update');
    assert.deepEqual(created?.data.record, note);
    assert.equal(at(updated?.data, 'record.rank'), 2);
    assert.deepEqual(updated?.data.changed, ['rank']);
    assert.equal(deleted?.data.id, note.id);
    assert.equal(deleted?.data.record, undefined);
    assert.deepEqual(
      withoutHeartbeats(live.messages).map(({ type }) => type),
      ['ready', 'create', 'update', 'delete'],
    );
    assert.equal(deleted?.id, deleted?.data.cursor);
  });
});
