import assert from 'node:assert/strict';
import { eventually } from '../../harness/eventually.ts';
import { at } from '../../harness/json.ts';
import { openLive } from '../../harness/live-client.ts';
import { compareVersions } from '../../harness/live-list.ts';
import { onEachTopology, type Target } from '../../harness/target.ts';
import { createNotes } from './notes.ts';

/** Creates a collection whose messages need the stored record, because events have no encrypted values. */
const createSecrets = async (target: Target) =>
  (await target.admin()).post('/api/v1/collections', {
    name: 'secrets',
    type: 'base',
    list_rule: null,
    fields: [{ name: 'code', type: 'text', options: { encrypted: true } }],
  });

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
      live.messages.map(({ type }) => type),
      ['ready', 'create', 'update', 'delete'],
    );
    assert.equal(live.lastEventId, deleted?.data.cursor);
  });

  await t.test('a later state arrives once, and no older state after it [realtime §3.4]', async () => {
    await createSecrets(target);
    await using live = await openLive(target.url, [{ collection: 'secrets' }]);
    await live.arrived('ready');
    const put = (id: string, ...codes: string[]) =>
      codes.map((code, place) => ({
        op: place === 0 ? 'create' : 'update',
        collection: 'secrets',
        id,
        data: { code },
      }));
    const operations = [...put('one', 'a', 'b', 'c'), ...put('two', 'd', 'e')];
    await admin.post('/api/v1/batch', { operations }, 200);
    await admin.patch('/api/v1/secrets/one', { code: 'f' });
    await admin.delete('/api/v1/secrets/two');
    await live.arrived('delete');
    await eventually('the last change has come', () =>
      live.messages.some(({ data }) => at(data, 'record.code') === 'f'),
    );
    const versions = new Map<string, string[]>();
    for (const { data } of live.messages) {
      const id = String(at(data, 'record.id') ?? data.id);
      if (typeof data.version === 'string') versions.set(id, [...(versions.get(id) ?? []), data.version]);
    }
    for (const [id, came] of versions) assert.deepEqual([id, came], [id, [...new Set(came)].sort(compareVersions)]);
  });
});
