import assert from 'node:assert/strict';
import { type LiveClient, openLive } from '../../harness/clients/live-client.ts';
import { openSocket } from '../../harness/clients/live-socket.ts';
import { eventually } from '../../harness/eventually.ts';
import type { JsonObject } from '../../harness/json.ts';
import { onEachTopology } from '../../harness/stacks/target.ts';
import { channelPath, present, setChannels } from './channels.ts';

onEachTopology('presence says who follows a channel', async (t, target) => {
  const admin = await target.admin();
  await setChannels(admin, [{ pattern: '*', publish_rule: null, subscribe_rule: null }]);
  const enter = (channel: string, key: string, state?: unknown): Promise<LiveClient> =>
    openLive(target.url, [{ channel, presence: { key, state } }], { asBody: true });
  const sees = (live: LiveClient, expected: JsonObject) =>
    eventually('everyone is present', () => {
      assert.deepEqual(present(live), expected);
      return true;
    });

  await t.test('from the first message on [realtime §7.5]', async () => {
    await using ann = await enter('a', 'ann', { at: 1 });
    const [first] = await ann.arrived('presence');
    assert.deepEqual(first?.data, { sub: '1', channel: 'a', present: { ann: { at: 1 } } });
    const bob = await enter('a', 'bob');
    await bob.arrived('presence');
    await sees(bob, { ann: { at: 1 }, bob: null });
    const [, joined] = await ann.arrived('presence', 2);
    assert.deepEqual(joined?.data, { sub: '1', channel: 'a', joined: { bob: null }, left: [] });
    bob.close();
    const [, , left] = await ann.arrived('presence', 3);
    assert.deepEqual(left?.data, { sub: '1', channel: 'a', joined: {}, left: ['bob'] });
  });

  await t.test("until a key's last connection ends, with its latest state [realtime §7.5]", async () => {
    await using watcher = await enter('b', 'watcher');
    await using first = await enter('b', 'ann', 1);
    await sees(watcher, { watcher: null, ann: 1 });
    const second = await enter('b', 'ann', 2);
    await sees(watcher, { watcher: null, ann: 2 });
    second.close();
    await sees(watcher, { watcher: null, ann: 1 });
    assert.ok(!watcher.messages.some(({ data }) => [data.left].flat().includes('ann')));
    first.close();
    await sees(watcher, { watcher: null });
  });

  await t.test('only in its channel, to its members [realtime §7.5]', async () => {
    await using ann = await enter('c', '__proto__', 'ann');
    await using other = await openLive(target.url, [{ channel: 'c' }, { channel: 'd', presence: { key: 'bob' } }]);
    await sees(ann, JSON.parse('{"__proto__":"ann"}'));
    await sees(other, { bob: null });
    await using last = await enter('c', 'last');
    await sees(last, JSON.parse('{"__proto__":"ann","last":null}'));
    assert.ok(other.messages.every(({ type, data }) => type !== 'presence' || data.channel === 'd'));
  });

  await t.test('over WebSockets, until the subscription ends [realtime §7.3]', async () => {
    await using watcher = await enter('w', 'watcher');
    await using socket = await openSocket(target.url);
    socket.send({ type: 'subscribe', id: 'x', channel: 'w', presence: { key: 'ann', state: 1 } });
    const [first] = await socket.arrived('presence');
    assert.equal(first?.data.sub, 'x');
    await target.guest.post(channelPath('w'), { data: 'hello' }, 200);
    assert.equal((await socket.arrived('broadcast'))[0]?.data.data, 'hello');
    await sees(watcher, { watcher: null, ann: 1 });
    socket.send({ type: 'unsubscribe', id: 'x' });
    await socket.arrived('unsubscribed');
    await sees(watcher, { watcher: null });
  });
});
