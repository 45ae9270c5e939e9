import assert from 'node:assert/strict';
import { type LiveClient, openLive } from '../../harness/clients/live-client.ts';
import { at } from '../../harness/json.ts';
import { followedEverywhere } from '../../harness/stacks/followed-settings.ts';
import { onEachTopology, replicaCount } from '../../harness/stacks/target.ts';
import { createNotes, join } from './notes.ts';

const notes = { collection: 'notes' };

onEachTopology('live connections refuse what they cannot follow', async (t, target) => {
  await createNotes(target);
  const admin = followedEverywhere(await target.admin());
  await admin.post('/api/v1/collections', { name: 'closed', type: 'base', fields: [], list_rule: '', view_rule: '' });
  await admin.post('/api/v1/collections', {
    name: 'seen',
    type: 'view',
    view_query: 'select id, text from notes',
    list_rule: null,
    view_rule: null,
  });

  const refused: readonly (readonly [string, unknown, number, RegExp])[] = [
    ['an unknown collection', { collection: 'nowhere' }, 404, /not_found/],
    ['a closed collection', { collection: 'closed' }, 403, /forbidden/],
    ['a closed record', { collection: 'closed', record: 'x' }, 403, /forbidden/],
    ['a filter with an unknown field', { ...notes, filter: 'nothing = 1' }, 400, /filter/],
    ['a filter that does not parse', { ...notes, filter: 'text =' }, 400, /filter/],
    ['an expand of nothing', { ...notes, expand: 'text' }, 400, /expand/],
    ['a view', { collection: 'seen' }, 400, /is a view/],
    ['an unknown member', { ...notes, colection: 'x' }, 400, /colection/],
    ['a collection that is a number', { collection: 1 }, 400, /collection/],
    ['no object', 'notes', 400, /error/],
    ['null', null, 400, /error/],
    ['a snapshot that is a number', { ...notes, snapshot: 1 }, 400, /snapshot/],
    ['a page of zero', { ...notes, snapshot: { page: 0 } }, 400, /page/],
    ['a page that is too long', { ...notes, snapshot: { perPage: 1001 } }, 400, /perPage must be .* 1000/],
    ['a snapshot sorted by an unknown field', { ...notes, snapshot: { sort: '-nothing' } }, 400, /sort/],
    ['a page without a snapshot member', { ...notes, snapshot: { offset: 1 } }, 400, /snapshot/],
    ['a search', { ...notes, search: 'tea' }, 422, /"search":"a subscription cannot search"/],
    ['an empty record', { ...notes, record: '' }, 400, /record: must not be empty/],
    ['an empty id', { ...notes, id: '' }, 400, /id/],
  ];
  for (const [name, subscription, status, words] of refused)
    await t.test(`${status}: ${name} [realtime §2.2]`, async () => {
      await using alone = await openLive(target.url, [subscription]);
      assert.equal(alone.status, status, alone.text);
      assert.match(alone.text, words);
      await using beside = await openLive(target.url, [notes, subscription], { asBody: true });
      assert.equal(beside.status, 200);
      const [error] = await beside.arrived('error');
      assert.equal(error?.data.sub, '2');
      assert.match(JSON.stringify(error?.data), words);
      await admin.create('notes', { text: name });
      await beside.arrived('create');
    });

  await t.test('bad requests [realtime §1.1]', async () => {
    await using none = await openLive(target.url, []);
    assert.equal(none.status, 400);
    await using many = await openLive(target.url, Array(101).fill(notes), { asBody: true });
    assert.equal(many.status, 400);
    assert.match(many.text, /at most 100/);
    await using text = await openLive(target.url, [], { query: 'subscribe=notes' });
    assert.equal(text.status, 400);
    assert.match(text.text, /subscribe: is not JSON/);
    await using twice = await openLive(target.url, [
      { ...notes, id: 'a' },
      { ...notes, id: 'a' },
    ]);
    const [error] = await twice.arrived('error');
    assert.equal(error?.data.sub, 'a');
    await using token = await openLive(target.url, [notes], { query: `token=${'a'.repeat(40)}` });
    assert.equal(token.status, 400);
    const large = await target.guest.send('POST', '/api/v1/realtime', {
      body: { subscriptions: [{ ...notes, filter: 'x'.repeat(2 ** 20) }] },
    });
    assert.equal(large.status, 413);
    await using long = await openLive(target.url, [{ ...notes, fields: 'x'.repeat(16_385) }], { asBody: true });
    assert.equal(long.status, 400);
    assert.match(long.text, /fields: must have at most 16384 characters/);
    const head = await target.guest.send(
      'HEAD',
      `/api/v1/realtime?subscribe=${encodeURIComponent(JSON.stringify(notes))}`,
    );
    assert.equal(head.status, 200);
  });

  await t.test('a hundred subscriptions on one connection all get their changes [realtime §2.4]', async () => {
    const all = Array.from({ length: 100 }, (_, n) => ({ ...notes, filter: `rank = ${n % 10}` }));
    await using live = await openLive(target.url, all, { asBody: true });
    await live.arrived('ready');
    await admin.create('notes', { rank: 3 });
    const created = await live.arrived('create', 10);
    assert.deepEqual(
      created.map(({ data }) => Number(at(data, 'sub')) % 10),
      Array(10).fill(4),
    );
    assert.equal(live.messages.filter(({ type }) => type === 'error').length, 0);
  });

  await t.test('too many connections for an account are 429 [realtime §1.6]', async () => {
    const ada = await join(target, 'ada');
    await admin.patch('/api/v1/admin/settings', { 'realtime.max_connections_per_principal': '3' });
    const open = () => openLive(target.url, [notes], { token: ada.token });
    const all: LiveClient[] = [];
    // Each realtime replica takes three, and the gateways choose among the replicas.
    while (all.length <= 3 * replicaCount && (all.length === 0 || all.at(-1)?.status === 200)) all.push(await open());
    const [refused, ...admitted] = all.toReversed();
    assert.equal(refused?.status, 429);
    assert.match(refused.text, /too_many_connections/);
    assert.ok(admitted.length >= 3 && admitted.length <= 3 * replicaCount, `${admitted.length} connections`);
    for (const one of admitted) {
      one.close();
      await one.closed();
    }
    await using again = await openWhenFree(open);
    assert.equal(again.status, 200);
    await admin.patch('/api/v1/admin/settings', { 'realtime.max_connections_per_principal': '' });
  });
});

/** Opens a connection once the server has noticed that another one is closed. */
async function openWhenFree(open: () => ReturnType<typeof openLive>): ReturnType<typeof openLive> {
  for (;;) {
    const live = await open();
    if (live.status === 200) return live;
  }
}
