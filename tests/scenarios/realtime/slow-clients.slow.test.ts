import assert from 'node:assert/strict';
import { openLive } from '../../harness/clients/live-client.ts';
import { eventually } from '../../harness/eventually.ts';
import { at } from '../../harness/json.ts';
import { followedEverywhere } from '../../harness/stacks/followed-settings.ts';
import { inDatabase } from '../../harness/stacks/in-database.ts';
import { onEachTopology, replicaCount } from '../../harness/stacks/target.ts';
import { createNotes } from './notes.ts';

/** More than 1 MiB and two sockets' buffers. */
const count = 240;
const largeText = 'x'.repeat(100_000);

onEachTopology('slow and greedy clients harm nobody else', async (t, target) => {
  await createNotes(target);
  const admin = await target.admin();

  await t.test('a client that does not read delays no other client, and misses nothing [realtime §6.1]', async () => {
    let deaf = await openLive(target.url, [{ collection: 'notes' }]);
    await deaf.arrived('ready');
    await using other = await openLive(target.url, [{ collection: 'notes', fields: 'id' }]);
    deaf.pause();
    for (let n = 0; n < count; n += 1) await admin.create('notes', { text: largeText, rank: n });
    await other.arrived('create', count);
    deaf.resume();
    const ranks: unknown[] = [];
    await eventually('it has everything', async () => {
      const { isClosed, lastEventId, messages } = deaf;
      const arrived = messages.flatMap(({ type, data }) => (type === 'create' ? [at(data, 'record.rank')] : []));
      if (ranks.length + arrived.length >= count) return ranks.push(...arrived);
      if (!isClosed) return undefined;
      // It was too far behind, so it reconnects with its cursor.
      ranks.push(...arrived);
      deaf = await openLive(target.url, [{ collection: 'notes' }], { headers: { 'Last-Event-ID': lastEventId ?? '' } });
      return undefined;
    });
    deaf.close();
    // Several relays publish different records side by side.
    if (replicaCount > 1) ranks.sort((one, other) => Number(one) - Number(other));
    assert.deepEqual(
      ranks,
      Array.from({ length: count }, (_, n) => n),
    );
  });

  await t.test('a filter that is too slow ends only its own subscription [realtime §6.3]', async (t) => {
    if (target.databaseUrl === undefined) return t.skip('the text is written into the database');
    const open = { list_rule: null, view_rule: null };
    const text = { name: 'text', type: 'text' };
    await admin.post('/api/v1/collections', { name: 'books', type: 'base', fields: [text], ...open });
    const fields = [
      { name: 'book', type: 'relation', collection: 'books' },
      { name: 'rank', type: 'number' },
    ];
    await admin.post('/api/v1/collections', { name: 'quotes', type: 'base', fields, ...open });
    const { id: book } = await admin.create('books', { text: largeText });
    await inDatabase(target, 'update records.books set text = repeat(text, 80) where id = $1', [book]);
    // Every term converts 8 MB to lower case again, which takes much longer than the limit, and everything else much less.
    await followedEverywhere(admin).patch('/api/v1/admin/settings', { 'records.read_timeout_ms': '1000' });
    const filter = Array.from({ length: 190 }, (_, n) => `book.text !~ "${n}y"`).join('&&');
    await using slow = await openLive(target.url, [{ collection: 'quotes', filter }], { asBody: true });
    await using other = await openLive(target.url, [{ collection: 'quotes', filter: 'rank >= 0', fields: 'id' }]);
    assert.equal(slow.status, 200, slow.text);
    for (let rank = 0; rank < 5; rank += 1) await admin.create('quotes', { book, rank });
    await other.arrived('create', 5);
    const [error] = await slow.arrived('error');
    assert.equal(error?.data.code, 'too_expensive');
    await admin.patch('/api/v1/admin/settings', { 'records.read_timeout_ms': '' });
  });
});
