import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { type Change, type ChannelMessage, createClient, f, isConflict, RecordbusError } from '@recordbus/client';
import { eventually } from '../harness/eventually.ts';
import { startCutProxy } from '../harness/network/cut-proxy.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { type Library, openLibrary } from './library.ts';

const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'no error',
    (error) => (error instanceof RecordbusError ? `${error.status} ${error.code}` : error),
  );

onEachTopology('a live list is always like its collection', async (t, target) => {
  const { guest, admin } = await openLibrary(target);
  const books = guest.from('books');
  const make = (title: string, stars: number) => books.create({ title, stars });

  await t.test('it shows the matching records in sort order', async () => {
    const old = await make('Live A', 3);
    const list = await books.live({
      filter: (book) => book.and(book.title.contains('Live'), book.stars.gte(2)),
      sort: ['-stars', 'title'],
    });
    const shows = (...titles: string[]) =>
      eventually(`the list shows ${titles}`, () => {
        assert.deepEqual(
          list.records.map(({ title }) => title),
          titles,
        );
        return true;
      });
    assert.deepEqual([list.records.length, list.total], [1, 1]);
    const seen: number[] = [];
    list.onChange((records) => seen.push(records.length));
    const made = await make('Live B', 5);
    await make('Live C', 1);
    await shows('Live B', 'Live A');
    await books.update(old.id, { stars: 5 });
    await shows('Live A', 'Live B');
    await books.update(made.id, { stars: 1 });
    await shows('Live A');
    await books.update(made.id, { stars: 9 });
    await shows('Live B', 'Live A');
    await books.delete(old.id);
    await shows('Live B');
    assert.ok(seen.length >= 5 && list.total === 1);
    list.close();
    await make('Live D', 8);
    assert.equal(list.records.length, 1);
  });

  await t.test('its records know their versions', async () => {
    const list = await guest.from('tags').live({ filter: f`name ~ ${'versioned'}` });
    const made = await guest.from('tags').create({ name: 'versioned' });
    await guest.from('tags').update(made, { name: 'versioned 2' });
    const read = await eventually('the record is there', () => list.records.find(({ name }) => name === 'versioned 2'));
    await guest.from('tags').update(read, { name: 'versioned 3' });
    assert.ok(
      isConflict(
        await guest
          .from('tags')
          .update(read, { name: 'versioned 4' })
          .catch((error: unknown) => error),
      ),
    );
    list.close();
  });

  await t.test('it keeps the first of many records, and reads those that move up', async () => {
    const tags = guest.from('tags');
    const ids = await Promise.all(
      Array.from({ length: 8 }, async (_, index) => (await tags.create({ name: `many ${index}` })).id),
    );
    const list = await tags.live({ filter: f`name ~ ${'many'}`, sort: 'name', limit: 3, fields: ['name'] });
    const names = () => list.records.map(({ name }) => name).join();
    const show = (wanted: string) =>
      eventually(`the list shows ${wanted} and not ${names()}`, () => names() === wanted);
    assert.equal(list.total, 8);
    await show('many 0,many 1,many 2');
    await tags.delete(ids[1] ?? '');
    await show('many 0,many 2,many 3');
    await tags.update(ids[0] ?? '', { name: 'many 9' });
    await show('many 2,many 3,many 4');
    await tags.create({ name: 'many 10' });
    await show('many 10,many 2,many 3');
    assert.equal(list.total, 8);
    list.close();
  });

  await t.test('it misses nothing when its connection is cut, and while others write', async () => {
    await using proxy = await startCutProxy(target.url);
    const client = createClient<Library>(proxy.url);
    const list = await client.from('tags').live({ filter: f`name ~ ${'cut'}`, sort: 'name' });
    const ids: string[] = [];
    for (let round = 0; round < 5; round += 1) {
      proxy.cut();
      for (let index = 0; index < 4; index += 1)
        ids.push((await guest.from('tags').create({ name: `cut ${ids.length}` })).id);
      await guest.from('tags').delete(ids[round * 4] ?? '');
      proxy.restore();
      await guest.from('tags').update(ids[round * 4 + 1] ?? '', { name: `cut again ${round}` });
    }
    const { data } = await guest.from('tags').list({ filter: f`name ~ ${'cut'}`, sort: 'name', perPage: 100 });
    assert.equal(data.length, 15);
    await eventually('the list is like the collection', () => {
      assert.deepEqual(list.records, data);
      return true;
    });
    list.close();
  });

  await t.test('it reports why it ends, and why it does not begin', async () => {
    await target.admin().then((client) => client.patch('/api/v1/collections/houses', { list_rule: '' }));
    assert.equal(await codeOf(guest.from('houses').live()), '403 forbidden');
    const list = await admin.from('houses').live();
    assert.equal(list.error, undefined);
    list.close();
    assert.equal(await codeOf(guest.from('tags').live({ filter: 'nothing = 1' })), '400 malformed_request');
    assert.equal(await codeOf(guest.from('tags').live({ sort: 'count(x)' })), '0 invalid_argument');
    await target.admin().then((client) => client.patch('/api/v1/collections/houses', { list_rule: null }));
    const open = await guest.from('houses').live();
    await target.admin().then((client) => client.patch('/api/v1/collections/houses', { list_rule: '' }));
    await eventually('the list has ended', () => open.error?.code === 'forbidden');
    await target.admin().then((client) => client.patch('/api/v1/collections/houses', { list_rule: null }));
  });
});

onEachTopology('a client follows changes and channels over one connection', async (t, target) => {
  const { guest, admin } = await openLibrary(target);

  await t.test('changes come one by one', async () => {
    const changes: Change<Library['tags']['record']>[] = [];
    let connections = 0;
    const client = createClient<Library>(target.url, {
      fetch: (input, init) => {
        if (String(input).endsWith('/realtime')) connections += 1;
        return fetch(input, init);
      },
    });
    const tags = client.from('tags');
    const [one, two] = await Promise.all([
      tags.subscribe({ filter: (tag) => tag.name.contains('change'), onMessage: (change) => changes.push(change) }),
      tags.subscribe({ record: 'none', onMessage: () => {} }).catch(() => undefined),
    ]);
    const made = await guest.from('tags').create({ name: 'change' });
    await guest.from('tags').update(made, { name: 'changed' });
    await guest.from('tags').delete(made.id);
    await eventually('three changes', () => changes.length === 3);
    assert.deepEqual(
      changes.map(({ type }) => type),
      ['create', 'update', 'delete'],
    );
    assert.deepEqual(changes[1]?.type === 'update' && [changes[1].record.name, changes[1].changed], [
      'changed',
      ['name'],
    ]);
    assert.ok(connections <= 2, `${connections} connections`);
    one.close();
    two?.close();
  });

  await t.test("a channel's messages and its presence", async () => {
    await admin.admin.settings.update({
      'realtime.channels': JSON.stringify([{ pattern: 'room:*', publish_rule: null, subscribe_rule: null }]),
    });
    const heard: ChannelMessage[] = [];
    const ann = await eventually('the channel is open', () =>
      guest.channel('room:1', { presence: { key: 'ann', state: 1 }, onMessage: (message) => heard.push(message) }),
    );
    await eventually('ann is present', () => heard.some((message) => message.type === 'presence'));
    await guest.broadcast('room:1', { hello: 'world' });
    const message = await eventually('the message', () => heard.find(({ type }) => type === 'broadcast'));
    assert.deepEqual(message, {
      type: 'broadcast',
      channel: 'room:1',
      data: { hello: 'world' },
      from: { type: 'guest', id: null },
    });
    ann.close();
  });
});

onEachTopology('what is followed over a WebSocket changes on one connection', async (t, target) => {
  const { guest } = await openLibrary(target);
  const tags = guest.from('tags');

  await t.test('lists stay right while others come and go and records are written', async (t) => {
    const opened = countSockets(t);
    const client = createClient<Library>(target.url, { live: { over: 'websocket' } });
    const write = async (prefix: string) => {
      for (let index = 0; index < 8; index += 1) {
        const made = await tags.create({ name: `${prefix} ${index}` });
        if (index % 2 === 0) await tags.update(made, { name: `${prefix} ${index} again` });
        if (index % 4 === 1) await tags.delete(made.id);
      }
    };
    const filter = f`name ~ ${'socket'}`;
    const lists = [await client.from('tags').live({ filter, sort: 'name' })];
    for (let round = 0; round < 5; round += 1) {
      const writing = write(`socket ${round}`);
      lists.push(await client.from('tags').live({ filter, sort: '-name', limit: 10 + round }));
      const seen: string[] = [];
      const onMessage = (change: Change<{ name: string }>) => 'record' in change && seen.push(change.record.name);
      const subscription = await client.from('tags').subscribe({ filter, onMessage });
      await tags.create({ name: `socket ${round} after` });
      await writing;
      await eventually('what came after the subscription', () => seen.includes(`socket ${round} after`));
      subscription.close();
      if (round % 2 === 0) lists.splice(1, 1)[0]?.close();
    }
    const { data } = await tags.list({ filter, sort: 'name', perPage: 100 });
    for (const [place, list] of lists.entries())
      await eventually('the lists are like their collection', () => {
        const wanted = place === 0 ? data : data.toReversed().slice(0, list.records.length);
        assert.deepEqual(list.records, wanted);
        assert.ok(list.records.length >= Math.min(10, data.length));
        assert.equal(list.total, data.length);
        return true;
      });
    for (const list of lists) list.close();
    assert.equal(opened.length, 1);
    await eventually('the connection is closed', () => opened[0]?.readyState === WebSocket.CLOSED);
  });

  await t.test('a subscription that came later misses nothing when the connection is cut', async () => {
    await using proxy = await startCutProxy(target.url);
    const client = createClient<Library>(proxy.url, { live: { over: 'websocket' } });
    const list = await client.from('tags').live({ filter: f`name ~ ${'later'}`, sort: 'name' });
    const seen = new Set<string>();
    const subscription = await client.from('tags').subscribe({
      filter: f`name ~ ${'later'}`,
      onMessage: (change) => 'record' in change && seen.add(change.record.name),
    });
    proxy.cut();
    const names = Array.from({ length: 5 }, (_, index) => `later ${index}`);
    for (const name of names) await tags.create({ name });
    proxy.restore();
    await eventually(
      'both have all',
      () => seen.size === 5 && list.records.map(({ name }) => name).join() === `${names}`,
    );
    subscription.close();
    list.close();
  });

  await t.test('a refusal ends only what it is about', async (t) => {
    const opened = countSockets(t);
    const client = createClient<Library>(target.url, { live: { over: 'websocket' } });
    const list = await client.from('tags').live({ filter: f`name ~ ${'crowd'}` });
    assert.equal(await codeOf(client.from('tags').live({ filter: 'nothing = 1' })), '0 malformed_request');
    const follow = () => client.from('tags').subscribe({ record: 'none', onMessage: () => {} });
    const crowd = await Promise.all(Array.from({ length: 99 }, follow));
    assert.equal(await codeOf(follow()), '0 invalid_argument');
    await tags.create({ name: 'crowd' });
    await eventually('the list continues', () => list.records.length === 1);
    assert.deepEqual([list.error, opened.length], [undefined, 1]);
    for (const one of [...crowd, list]) one.close();
  });
});

/** Counts the WebSockets that are opened during a test. */
function countSockets(t: TestContext): readonly WebSocket[] {
  const opened: WebSocket[] = [];
  const Platform = globalThis.WebSocket;
  t.mock.property(
    globalThis,
    'WebSocket',
    class extends Platform {
      constructor(url: string, protocol: string) {
        super(url, protocol);
        opened.push(this);
      }
    } as typeof WebSocket,
  );
  return opened;
}
