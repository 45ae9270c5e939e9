import assert from 'node:assert/strict';
import { eventually } from '../harness/eventually.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { provideEventSource } from '../pocketbase-clients/event-source.ts';
import { ourSide } from '../pocketbase-clients/ours.ts';
import { raw } from '../pocketbase-clients/row.ts';
import { castOf, idOf } from '../pocketbase-clients/side.ts';

provideEventSource();

onEachTopology("PocketBase's official client follows changes", async (t, target) => {
  const { guest, alice, bob, admin, url } = await castOf(ourSide(target));
  const seen: string[] = [];
  const note = (who: string) => (event: { action: string; record: Record<string, unknown> }) =>
    seen.push(`${who} ${event.action} ${event.record.name ?? event.record.text ?? 'without a name'}`);
  /**
   * Everything that arrived before a last change, which every follower of tags sees. Each client has its own stream, so the
   * changes that others see may come later.
   */
  const seenUntil = async (last: string, ...expected: readonly string[]) => {
    await alice.collection('tags').create({ name: last });
    await eventually(`the change ${last}, and ${expected}`, () =>
      [`guest create ${last}`, ...expected].every((line) => seen.includes(line)),
    );
    return seen.splice(0).filter((line) => !line.endsWith(last));
  };

  await t.test('each change comes once, with its action and its record', async () => {
    await guest.collection('tags').subscribe('*', note('guest'));
    const tag = await alice.collection('tags').create({ name: 'one' });
    const closed = await raw({ url }, 'PATCH', `/api/collections/tags/records/${tag.id}`, { body: { name: 'two' } });
    assert.deepEqual(Object(closed).status, 403);
    const post = await alice.collection('posts').create({ title: 'first', author: idOf(alice) });
    await guest.collection('posts').subscribe(post.id, ({ action, record }) => seen.push(`${action} ${record.title}`));
    await alice.collection('posts').update(post.id, { title: 'second' });
    await alice.collection('posts').create({ title: 'other', author: idOf(alice) });
    await alice.collection('posts').delete(post.id);
    await eventually('the delete', () => seen.includes('delete second'));
    const lines = await seenUntil('last 1');
    // A change from just before the subscription may come too.
    assert.deepEqual(
      lines.filter((line) => line !== 'create first'),
      ['guest create one', 'update second', 'delete second'],
    );
  });

  await t.test("a topic's options filter, and choose fields; its messages have its whole text", async () => {
    const records: unknown[] = [];
    const options = { filter: 'name ~ "x"', fields: 'name' };
    await guest.collection('tags').subscribe('*', ({ record }) => records.push(record), options);
    await alice.collection('tags').create({ name: 'a' });
    await alice.collection('tags').create({ name: 'xa' });
    await eventually('the change', () => records.length > 0);
    assert.deepEqual(await seenUntil('last 2'), ['guest create a', 'guest create xa']);
    assert.deepEqual(records, [{ name: 'xa' }]);
  });

  await t.test("another account's records never come", async () => {
    await alice.collection('notes').subscribe('*', note('alice'));
    await bob.collection('notes').subscribe('*', note('bob'));
    await guest.collection('notes').subscribe('*', note('guest'));
    await alice.collection('notes').create({ text: 'mine', author: idOf(alice) });
    await eventually('the change', () => seen.includes('alice create mine'));
    assert.deepEqual(await seenUntil('last 3'), ['alice create mine']);
  });

  await t.test('a delete has the record, with the fields that the follower may see', async () => {
    const post = await alice.collection('posts').create({ title: 'gone', n: 7, author: idOf(alice) });
    await admin.collection('posts').update(post.id, { secret: 'hidden' });
    const deleted = new Map<string, Record<string, unknown>>();
    const clients = { guest, admin };
    for (const [who, client] of Object.entries(clients))
      await client.collection('posts').subscribe('*', ({ action, record }) => {
        if (action === 'delete') deleted.set(who, record);
      });
    const { id } = await alice.collection('notes').create({ text: 'gone', author: idOf(alice) });
    await alice.collection('notes').delete(id);
    await alice.collection('posts').delete(post.id);
    await eventually('both deletes', () => deleted.size === 2);
    const { title, n, author, collectionName } = deleted.get('guest') ?? {};
    assert.deepEqual([title, n, author, collectionName], ['gone', 7, idOf(alice), 'posts']);
    assert.ok(!('secret' in (deleted.get('guest') ?? {})));
    assert.equal(deleted.get('admin')?.secret, 'hidden');
    await Promise.all(Object.values(clients).map((client) => client.collection('posts').unsubscribe()));
    const own = ['alice create gone', 'alice delete gone'];
    assert.deepEqual(await seenUntil('last 6', ...own), own);
  });

  const submit = (clientId: string, subscriptions: readonly string[], token?: string) =>
    raw({ url }, 'POST', '/api/realtime', {
      body: { clientId, subscriptions },
      ...(token !== undefined && { headers: { authorization: token } }),
    });

  await t.test('a forged id opens nothing, and nobody takes over a stream of another account', async () => {
    const missing = { status: 404, body: { data: {}, message: 'Missing or invalid client id.', status: 404 } };
    assert.deepEqual(await submit('forged', ['tags/*']), missing);
    assert.deepEqual(await submit(`${alice.realtime.clientId}x`, ['tags/*']), missing);
    const [gateway = '', random = ''] = alice.realtime.clientId.split('.');
    for (const id of [`${gateway}.${'x'.repeat(40)}`, `${'x'.repeat(12)}.${random}`, `*.${random}`, `>.${random}`])
      assert.deepEqual(await submit(id, ['tags/*']), missing, id);
    const other = {
      status: 403,
      body: { data: {}, message: "The current and the previous request authorization don't match.", status: 403 },
    };
    assert.deepEqual(await submit(alice.realtime.clientId, ['notes/*'], bob.authStore.token), other);
    assert.deepEqual(await submit(alice.realtime.clientId, ['notes/*']), other);
  });

  /** Opens a stream, as no client does that drops what it does not expect. */
  async function openStream() {
    const stream = await fetch(`${url}/api/realtime`);
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    assert.ok(reader);
    let text = '';
    /** Returns everything that came, when the part is in it so often. */
    const readUntil = async (part: string, count = 1): Promise<string> => {
      while (text.split(part).length <= count) {
        const late = setTimeout(() => void reader.cancel(), 90_000);
        const { value, done } = await reader.read().finally(() => clearTimeout(late));
        assert.equal(done, false, `the stream has ended, or nothing came for 90 s: ${text}`);
        text += value;
      }
      return text;
    };
    const id = /^id:(.+)$/m.exec(await readUntil('\n\n'))?.[1] ?? '';
    return { id, readUntil, cancel: () => reader.cancel() };
  }

  /** The topics of the messages with a part. A change from just before the subscription may have its own message. */
  const topicsOf = (text: string, part: string): string[] =>
    text
      .split('\n\n')
      .filter((message) => message.includes(part))
      .flatMap((message) => [...message.matchAll(/^event:(.*)$/gm)].map(([, topic = '']) => topic));

  await t.test('a stream follows many topics', async () => {
    const { id, cancel, readUntil } = await openStream();
    const texts = Array.from({ length: 250 }, (_, n) => `tags/*?options={"query":{"fields":"name","n":${n}}}`);
    assert.deepEqual(await submit(id, texts), { status: 204, body: '' });
    await alice.collection('tags').create({ name: 'many' });
    const text = await readUntil('"name":"many"', texts.length);
    assert.deepEqual(topicsOf(text, '"name":"many"').sort(), texts.sort());
    // None of them stays.
    assert.deepEqual(await submit(id, ['tags/*']), { status: 204, body: '' });
    await alice.collection('tags').create({ name: 'one of them' });
    await alice.collection('tags').create({ name: 'the next' });
    assert.equal((await readUntil('the next')).split('one of them').length, 2);
    await cancel();
    assert.deepEqual(await seenUntil('last many'), [
      'guest create many',
      'guest create one of them',
      'guest create the next',
    ]);
  });

  await t.test('a topic with line breaks makes no other events', async () => {
    const { id, cancel, readUntil } = await openStream();
    const topics = ['tags/*\nevent:forged', 'tags/*?options={"query":{"filter":"nothing = 1"}}', 'tags/*', 'nothing/*'];
    assert.deepEqual(await submit(id, topics), { status: 204, body: '' });
    await alice.collection('tags').create({ name: 'line\nevent:forged' });
    // The line break is escaped in JSON.
    const text = await readUntil('line\\nevent:forged');
    assert.deepEqual(topicsOf(text, 'line\\nevent:forged'), ['tags/*']);
    assert.deepEqual([...new Set(topicsOf(text, ''))], ['PB_CONNECT', 'tags/*']);
    await cancel();
    assert.deepEqual(await seenUntil('last 4'), ['guest create line\nevent:forged']);
  });

  await t.test('a sign-out everywhere ends the stream, and the client connects again as a guest', async () => {
    const before = bob.realtime.clientId;
    await bob.collection('users').update(idOf(bob), {
      oldPassword: 'correct horse 1',
      password: 'another pw 1',
      passwordConfirm: 'another pw 1',
    });
    await eventually('another stream', () => bob.realtime.clientId !== before && bob.realtime.clientId !== '');
    await alice.collection('notes').create({ text: 'later', author: idOf(alice) });
    await eventually('the change', () => seen.includes('alice create later'));
    assert.deepEqual(await seenUntil('last 5'), ['alice create later']);
  });

  await Promise.all([guest, alice, bob, admin].map((client) => client.realtime.unsubscribe()));
  await t.test('switching the setting off ends the streams and the routes', async () => {
    const stream = await fetch(`${url}/api/realtime`);
    const product = await target.admin();
    await product.patch('/api/v1/admin/settings', { 'pocketbase.enabled': '0' });
    assert.match(await stream.text(), /event:PB_CONNECT/);
    await eventually('no route', async () => (await fetch(`${url}/api/health`)).status === 404);
    await product.patch('/api/v1/admin/settings', { 'pocketbase.enabled': '1' });
  });
});
