import assert from 'node:assert/strict';
import { type LiveClient, openLive } from '../../harness/clients/live-client.ts';
import { at, objectAt } from '../../harness/json.ts';
import { onEachTopology, replicaCount } from '../../harness/stacks/target.ts';
import { channelPath, setChannels } from './channels.ts';
import { createNotes, join } from './notes.ts';

const byData = (one: unknown, other: unknown): number =>
  JSON.stringify(at(one, 'data')).localeCompare(JSON.stringify(at(other, 'data')));

onEachTopology('channels carry messages', async (t, target) => {
  await createNotes(target);
  const admin = await target.admin();
  const ann = await join(target, 'ann');
  const bob = await join(target, 'bob');
  const isSignedIn = '@request.auth.id != ""';
  await setChannels(admin, [
    { pattern: 'public:*', publish_rule: null, subscribe_rule: null },
    { pattern: 'own:*', publish_rule: isSignedIn, subscribe_rule: '@channel ~ @request.auth.id' },
    { pattern: 'staff', publish_rule: '', subscribe_rule: '' },
    { pattern: 'changing', publish_rule: null, subscribe_rule: null },
    { pattern: 'going', publish_rule: null, subscribe_rule: isSignedIn },
    { pattern: 'team:*', publish_rule: null, subscribe_rule: '@channel = @request.auth.name' },
  ]);
  const open = async (channels: readonly object[], token?: string): Promise<LiveClient> => {
    const live = await openLive(target.url, channels, { token, asBody: true });
    if (live.status === 200) await live.arrived('ready');
    return live;
  };
  const publish = (client: typeof admin, channel: string, data: unknown) =>
    client.send('POST', channelPath(channel), { body: { data } });

  await t.test('reach every subscriber in order and unchanged [realtime §7.4]', async () => {
    await using one = await open([{ channel: 'public:ä/b' }]);
    await using other = await open([{ id: 'x', channel: 'public:ä/b' }, { channel: 'public:c' }], bob.token);
    const values = [{ text: 'line\nbreak', quote: '"' }, null, [1, 2.5], 'text', false];
    for (const data of values) {
      const answer = await publish(ann.client, 'public:ä/b', data);
      assert.equal(answer.status, 200, answer.text);
      assert.deepEqual(answer.json, { data: { channel: 'public:ä/b' } });
    }
    for (const [live, sub] of [
      [one, '1'],
      [other, 'x'],
    ] as const) {
      const got = (await live.arrived('broadcast', values.length)).map(({ data }) => data);
      const sent = values.map((data) => ({ sub, channel: 'public:ä/b', data, from: { type: 'user', id: ann.id } }));
      // Messages that several replicas accept have no order.
      if (replicaCount === 1) assert.deepEqual(got, sent);
      else assert.deepEqual(got.sort(byData), sent.sort(byData));
    }
  });

  await t.test('and name guests and admins as publishers [realtime §7.4]', async () => {
    await using live = await open([{ channel: 'public:1' }]);
    await publish(target.guest, 'public:1', 1);
    await publish(admin, 'public:1', 2);
    const [guest, other] = await live.arrived('broadcast', 2);
    assert.deepEqual(at(guest?.data, 'from'), { type: 'guest', id: null });
    assert.equal(at(other?.data, 'from.type'), 'admin');
  });

  await t.test('share a connection with record changes [realtime §7.3]', async () => {
    await using live = await open([{ collection: 'notes' }, { channel: 'public:1' }]);
    await publish(admin, 'public:1', 1);
    await admin.create('notes', { text: 'a' });
    const [broadcast] = await live.arrived('broadcast');
    const [created] = await live.arrived('create');
    assert.deepEqual([broadcast?.data.sub, broadcast?.id, created?.data.sub], ['2', undefined, '1']);
    assert.equal(created?.id, created?.data.cursor);
  });

  await t.test('under their rules [realtime §7.2]', async () => {
    const subscribing: [channel: string, token: string | undefined, status: number][] = [
      [`own:${ann.id}`, ann.token, 200],
      [`own:${ann.id}`, bob.token, 403],
      [`own:${ann.id}`, undefined, 403],
      ['staff', ann.token, 403],
      ['unknown', ann.token, 404],
      ['public:', undefined, 200],
    ];
    for (const [channel, token, status] of subscribing) {
      await using live = await open([{ channel }], token);
      assert.equal(live.status, status, `${channel}: ${live.text}`);
    }
    const publishing: [client: typeof admin, channel: string, status: number][] = [
      [bob.client, `own:${ann.id}`, 200],
      [target.guest, 'own:x', 403],
      [bob.client, 'staff', 403],
      [admin, 'staff', 200],
      [admin, 'unknown', 404],
      [admin, 'PUBLIC:1', 404],
    ];
    for (const [client, channel, status] of publishing)
      assert.equal((await publish(client, channel, 1)).status, status, channel);
    await using mixed = await open([{ channel: 'public:1' }, { id: 'no', channel: 'staff' }]);
    const [refused] = await mixed.arrived('error');
    assert.deepEqual([refused?.data.sub, refused?.data.code], ['no', 'forbidden']);
  });

  await t.test('have rules whose errors the setting reports [realtime §7.2]', async () => {
    const refusals: [rule: string, problem: RegExp][] = [
      ['nonsense =', /^pattern 2: publish_rule /],
      ['@request.auth.nothing = 1', /^pattern 2: publish_rule there is no @request\.auth\.nothing/],
      ['@request.query.a = "b"', /^pattern 2: publish_rule can read @request\.auth and @channel only$/],
      ['@request.body.data = 1', /^pattern 2: publish_rule there is no @request\.body/],
      ['name = "x"', /^pattern 2: publish_rule /],
    ];
    for (const [rule, problem] of refusals) {
      const entries = [rule, null].map((publish_rule, index) => ({
        pattern: `${index}`,
        publish_rule,
        subscribe_rule: '',
      }));
      const answer = await admin.send('PATCH', '/api/v1/admin/settings', {
        body: { 'realtime.channels': JSON.stringify(entries.reverse()) },
      });
      assert.equal(answer.status, 422, rule);
      assert.match(String(objectAt(answer.json, 'details')['realtime.channels']), problem);
    }
  });

  await t.test('refuse invalid names and messages [realtime §7.1, §7.3, §7.4]', async () => {
    const name = 'must have 1 to 200 characters without control characters';
    const subscriptions: [subscription: object, details: object | undefined][] = [
      [{ channel: '' }, { channel: name }],
      [{ channel: 'a\u0000b' }, { channel: name }],
      [{ channel: 'x'.repeat(201) }, undefined],
      [{ channel: 5 }, undefined],
      [{ channel: 'public:1', collection: 'notes' }, undefined],
      [{ channel: 'public:1', after: '1-1' }, undefined],
      [{ channel: 'public:1', presence: { state: 1 } }, undefined],
      [{ channel: 'public:1', presence: { key: '' } }, undefined],
      [{ channel: 'public:1', presence: { key: 'x'.repeat(101) } }, undefined],
      [{ channel: 'public:1', presence: { key: 'a', state: 'x'.repeat(4095) } }, undefined],
    ];
    for (const [subscription, details] of subscriptions) {
      await using live = await open([subscription]);
      assert.equal(live.status, 400, JSON.stringify(subscription));
      if (details) assert.deepEqual(at(JSON.parse(live.text), 'details'), details);
    }
    // Before the route is called (http §2.1).
    await using half = await open([{ channel: 'a\ud800b' }]);
    assert.equal(half.status, 422, half.text);
    const send = (body: unknown, channel = 'public:1') => admin.send('POST', channelPath(channel), { body });
    assert.equal((await send({})).status, 422);
    assert.equal((await send({ data: 1, more: 2 })).status, 422);
    assert.equal((await send({ data: 'x'.repeat(65_535) })).status, 413);
    assert.equal((await send({ data: 'x'.repeat(65_534) })).status, 200);
    assert.equal((await send({ data: 'x'.repeat(300_000) })).status, 413);
    assert.equal((await send({ data: 1 }, 'a\nb')).status, 400);
    assert.equal((await send({ data: 1 }, 'x'.repeat(201))).status, 400);
  });

  await t.test("end when the caller's record changes and the rule refuses [realtime §7.6]", async () => {
    const rename = (name: string) => admin.patch(`/api/v1/people/${ann.id}`, { name });
    await rename('team:red');
    await using live = await open([{ channel: 'team:red' }, { channel: 'public:2' }], ann.token);
    await publish(target.guest, 'team:red', 1);
    await live.arrived('broadcast');
    await rename('team:blue');
    const [refused] = await live.arrived('error');
    assert.deepEqual([refused?.data.sub, refused?.data.code], ['1', 'forbidden']);
    await publish(target.guest, 'team:red', 2);
    await publish(target.guest, 'public:2', 3);
    const got = await live.arrived('broadcast', 2);
    assert.deepEqual(
      got.map(({ data }) => data.data),
      [1, 3],
    );
  });

  await t.test('end when a changed rule refuses their subscribers [realtime §7.6]', async () => {
    await using changing = await open([{ channel: 'changing' }, { channel: 'public:1' }]);
    await using going = await open([{ channel: 'going' }], bob.token);
    await using staying = await open([{ channel: 'changing' }], ann.token);
    await setChannels(admin, [
      { pattern: 'changing', publish_rule: null, subscribe_rule: isSignedIn },
      { pattern: 'public:*', publish_rule: null, subscribe_rule: null },
    ]);
    const [refused] = await changing.arrived('error');
    assert.deepEqual([refused?.data.sub, refused?.data.code], ['1', 'forbidden']);
    const [gone] = await going.arrived('error');
    assert.deepEqual([gone?.data.sub, gone?.data.code], ['1', 'not_found']);
    await publish(target.guest, 'changing', 1);
    await publish(target.guest, 'public:1', 2);
    assert.equal((await changing.arrived('broadcast'))[0]?.data.data, 2);
    assert.equal((await staying.arrived('broadcast'))[0]?.data.data, 1);
  });
});
