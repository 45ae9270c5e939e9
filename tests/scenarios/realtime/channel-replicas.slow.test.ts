import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type LiveClient, openLive } from '../../harness/clients/live-client.ts';
import { eventually } from '../../harness/eventually.ts';
import type { JsonObject } from '../../harness/json.ts';
import { topologiesOrInCi } from '../../harness/stacks/target.ts';
import { startReplicas } from '../replicas/start-replicas.ts';
import { channelPath, present, setChannels } from './channels.ts';

for (const topology of topologiesOrInCi('one'))
  test(`channels of two replicas (${topology})`, async (t) => {
    await using replicas = await startReplicas(topology);
    const { first, second, ground } = replicas;
    const admin = await first.admin();
    await setChannels(admin, [{ pattern: '*', publish_rule: null, subscribe_rule: null }]);
    const follow = (url: string, subscription: object): Promise<LiveClient> =>
      eventually('the replica follows the setting', async () => {
        const live = await openLive(url, [subscription]);
        return live.status === 200 && live;
      });
    const enter = (url: string, channel: string, key: string) =>
      follow(url, { channel, presence: { key, state: url } });
    const sees = (live: LiveClient, expected: JsonObject) =>
      eventually('everyone is present', () => {
        assert.deepEqual(present(live), expected);
        return true;
      });

    await t.test("a message reaches both replicas' subscribers [realtime §7.4]", async () => {
      await using here = await follow(first.url, { channel: 'a' });
      await using there = await follow(second.url, { channel: 'a' });
      await here.arrived('ready');
      await there.arrived('ready');
      for (const data of [1, 2, 3]) await first.guest.send('POST', channelPath('a'), { body: { data } });
      for (const live of [here, there]) {
        const got = await live.arrived('broadcast', 3);
        assert.deepEqual(
          got.map(({ data }) => data.data),
          [1, 2, 3],
        );
      }
    });

    await t.test("both replicas' members are present, even after a bus outage [realtime §7.5]", async () => {
      await using ann = await enter(first.url, 'b', 'ann');
      await using bob = await enter(second.url, 'b', 'bob');
      const both = { ann: first.url, bob: second.url };
      for (const live of [ann, bob]) await sees(live, both);
      const again = await enter(second.url, 'b', 'ann');
      await sees(ann, { ...both, ann: second.url });
      again.close();
      await sees(bob, both);
      await ground.bus.stop();
      await sees(ann, { ann: first.url });
      await ground.bus.start();
      for (const live of [ann, bob]) await sees(live, both);
    });

    await t.test("a killed replica's members are gone [realtime §7.5]", async () => {
      await using ann = await enter(first.url, 'c', 'ann');
      await using bob = await enter(second.url, 'c', 'bob');
      await sees(ann, { ann: first.url, bob: second.url });
      const { realtime = second.process } = second.services;
      process.kill(realtime.pid, 'SIGKILL');
      await sees(ann, { ann: first.url });
      await bob.closed();
    });
  });
