import assert from 'node:assert/strict';
import { eventually } from '../harness/eventually.ts';
import { type JsonObject, listAt, objectAt } from '../harness/json.ts';
import { startReceiver } from '../harness/servers/receiver.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { adminPath, prepare } from './firms.ts';

onEachTopology('the log tells owners nothing about the network [webhooks §7.3]', async (t, target) => {
  await using receiver = await startReceiver();
  const { admin, ann, allow, firms } = await prepare(target, receiver);
  const mine = `owner=firms/${firms[0]}`;
  const { port } = new URL(receiver.url);
  // IPv4's loopback is allowed, IPv6's is denied: so the name leads to a denied address.
  await allow({ hosts: [`http://localhost:${port}`] });
  const made = await ann.post(`/api/v1/webhooks?${mine}`, {
    name: 'Inside',
    url: `http://localhost:${port}/hook`,
    events: ['orders.*'],
  });
  const own = `/api/v1/webhooks/${made.id}/deliveries`;
  await ann.send('POST', `/api/v1/webhooks/${made.id}/test?${mine}`);
  const list = async (path: string) =>
    eventually('the delivery is dead', async () => {
      const [one] = listAt((await (path === own ? ann : admin).get(`${path}?${mine}&status=dead`)).json, 'data');
      return one;
    });

  await t.test('a manager reads that it was blocked, without addresses and ranges', async () => {
    const listed = await list(own);
    const shown = await ann.get(`${own}/${listed.id}?${mine}`);
    for (const delivery of [listed, objectAt(shown.json, 'data')] satisfies JsonObject[]) {
      assert.equal(delivery.error, 'egress blocked: requests to this address are not allowed');
      assert.doesNotMatch(JSON.stringify(delivery), /::1|127\.0\.0|denied range/);
    }
  });

  await t.test('admins read the address and the range', async () => {
    const listed = await list(`${adminPath}/${made.id}/deliveries`);
    assert.match(String(listed.error), /^egress blocked: localhost is ::1, which lies in the denied range/);
  });
});
