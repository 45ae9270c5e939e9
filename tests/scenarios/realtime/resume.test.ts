import assert from 'node:assert/strict';
import { type LiveClient, openLive } from '../../harness/clients/live-client.ts';
import { eventually } from '../../harness/eventually.ts';
import { at } from '../../harness/json.ts';
import { onEachTopology, replicaCount } from '../../harness/stacks/target.ts';
import { createNotes, withoutHeartbeats } from './notes.ts';

const notes = { collection: 'notes' };

const ranksOf = (live: LiveClient) =>
  live.messages.flatMap(({ type, data }) => (type === 'create' ? [rankOf(data.record)] : []));
const rankOf = (record: unknown) => (record as { readonly rank: number }).rank;

/** Several relays publish different records at once, so with replicas their order is not the writes' order. */
const inOrder = (ranks: readonly number[]): readonly number[] =>
  replicaCount === 1 ? ranks : ranks.toSorted((one, other) => one - other);

onEachTopology('live connections resume and begin with a snapshot', async (t, target) => {
  await createNotes(target);
  const admin = await target.admin();
  let rank = 0;
  const write = () => {
    rank += 1;
    return admin.create('notes', { rank });
  };

  await t.test('a client that reconnects gets the missed changes once and in order [realtime §4.2]', async () => {
    const first = await openLive(target.url, [notes]);
    await write();
    await first.arrived('create');
    const cursor = first.lastEventId ?? '';
    first.close();
    for (let n = 0; n < 5; n += 1) await write();
    await using second = await openLive(target.url, [notes], { headers: { 'Last-Event-ID': cursor } });
    await write();
    await second.arrived('create', 6);
    assert.deepEqual(inOrder(ranksOf(second)), [2, 3, 4, 5, 6, 7]);
    await using third = await openLive(target.url, [{ ...notes, after: cursor }], { asBody: true });
    await third.arrived('create', 6);
    assert.deepEqual(inOrder(ranksOf(third)), [2, 3, 4, 5, 6, 7]);
    const [ready] = await third.arrived('ready');
    assert.equal(ready?.data.cursor, cursor);
  });

  await t.test('a snapshot and the changes after it have no gap while others write [realtime §4.2]', async () => {
    let isWriting = true;
    const writer = (async () => {
      while (isWriting) await write();
    })();
    const clients = await Promise.all(
      Array.from({ length: 8 }, () => openLive(target.url, [{ ...notes, snapshot: { perPage: 1000, sort: 'rank' } }])),
    );
    for (const client of clients) await client.arrived('create', 20);
    isWriting = false;
    await writer;
    for (const client of clients) {
      await client.arrived('create', 1);
      const [snapshot] = await client.arrived('snapshot');
      const listed = (at(snapshot?.data, 'records') as unknown[]).map(rankOf);
      assert.equal(snapshot?.data.total, listed.length);
      const seen = () => [...new Set([...listed, ...ranksOf(client)])];
      await eventually('the client has every change', () => seen().length >= rank);
      assert.deepEqual(
        inOrder(seen()),
        Array.from({ length: rank }, (_, n) => n + 1),
      );
      client.close();
    }
  });

  await t.test(
    "another stream's cursor, or one ahead of this stream, is a resync; a text that is not a cursor is 400 [realtime §4.3]",
    async () => {
      const [epoch = '', seq = ''] = ((await lastCursor()) ?? '').split('-');
      const reasons = [
        [`${Number(epoch) - 1}-${seq}`, 'stream_recreated'],
        [`${epoch}-${Number(seq) + 1000}`, 'ahead'],
      ] as const;
      for (const [after, reason] of reasons) {
        await using live = await openLive(target.url, [{ ...notes, after, snapshot: { perPage: 1 } }]);
        const [resync] = await live.arrived('resync');
        assert.deepEqual([resync?.data.sub, resync?.data.reason], ['1', reason]);
        await live.arrived('snapshot');
        const note = await write();
        const [created] = await live.arrived('create');
        assert.deepEqual(created?.data.record, note);
      }
      for (const after of ['x', '1', '-1', '1-x', `${'9'.repeat(30)}-1`]) {
        await using live = await openLive(target.url, [{ ...notes, after }]);
        assert.equal(live.status, 400);
        assert.match(live.text, /"after":"is not a cursor"/);
      }
      await using live = await openLive(target.url, [notes], { headers: { 'Last-Event-ID': 'nonsense' } });
      assert.equal(live.status, 400);
      async function lastCursor(): Promise<string | undefined> {
        await using live = await openLive(target.url, [notes]);
        await live.arrived('ready');
        return live.lastEventId;
      }
    },
  );

  await t.test(
    'nothing before a snapshot says from where to resume, else it would never come [realtime §4.2]',
    async () => {
      await using before = await openLive(target.url, [notes]);
      await before.arrived('ready');
      const [epoch] = (before.lastEventId ?? '').split('-');
      for (const [after, types] of [
        [undefined, ['ready', 'snapshot']],
        [`${Number(epoch) - 1}-1`, ['ready', 'resync', 'snapshot']],
      ] as const) {
        await using live = await openLive(target.url, [{ ...notes, after, snapshot: { perPage: 1 } }]);
        const [snapshot] = await live.arrived('snapshot');
        assert.deepEqual(
          withoutHeartbeats(live.messages).map(({ type, id }) => [type, id]),
          types.map((type) => [type, type === 'snapshot' ? snapshot?.data.cursor : undefined]),
        );
      }
    },
  );

  await t.test("one record's snapshot has it, and its changes follow [realtime §2.1]", async () => {
    await using before = await openLive(target.url, [notes]);
    const note = await write();
    // Otherwise the snapshot might include it, and its event follow.
    await before.arrived('create');
    await using live = await openLive(target.url, [{ ...notes, record: note.id, snapshot: true, fields: 'id,rank' }]);
    const [snapshot] = await live.arrived('snapshot');
    assert.deepEqual(snapshot?.data.records, [{ id: note.id, rank }]);
    assert.equal(snapshot?.data.total, undefined);
    await write();
    await admin.patch(`/api/v1/notes/${note.id}`, { text: 'x', rank: -1 });
    const [updated] = await live.arrived('update');
    assert.deepEqual(updated?.data.record, { id: note.id, rank: -1 });
    assert.deepEqual(updated?.data.changed, ['rank']);
    assert.deepEqual(
      withoutHeartbeats(live.messages).map(({ type }) => type),
      ['ready', 'snapshot', 'update'],
    );
  });
});
