import assert from 'node:assert/strict';
import type { Client } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at, listAt, objectAt } from '../harness/json.ts';
import { startReceiver } from '../harness/servers/receiver.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { adminPath, collections, ownersKey, prepare } from './firms.ts';

onEachTopology('those who manage a record manage its webhooks [webhooks §9.6]', async (t, target) => {
  await using receiver = await startReceiver();
  const { admin, ann, firms, allow, setRule, own } = await prepare(target, receiver);
  const [north, south] = firms;
  const mine = `owner=firms/${north}`;
  const path = '/api/v1/webhooks';
  const body = { name: 'Mine', url: receiver.url, events: ['orders.*'] };
  const status = async (client: Client, method: string, where: string, given?: object) =>
    (await client.send(method, where, given === undefined ? {} : { body: given })).status;

  await t.test('all of their routes', async () => {
    await setRule('firm = @owner.id');
    const made = await ann.post(`${path}?${mine}`, body);
    assert.deepEqual(made.owner, { collection: 'firms', id: north });
    assert.match(String(made.secret), /^whsec_/);
    const own = `${path}/${made.id}`;
    assert.equal(listAt((await ann.get(`${path}?${mine}`)).json, 'data').length, 1);
    assert.equal(at((await ann.get(`${own}?${mine}`)).json, 'data.name'), 'Mine');
    await ann.patch(`${own}?${mine}`, { ...made, name: 'Renamed' });
    assert.equal(at((await ann.get(`${own}?${mine}`)).json, 'data.name'), 'Renamed');
    assert.equal(await status(ann, 'POST', `${own}/test?${mine}`), 200);
    const [sent] = await receiver.received(1);
    assert.equal(sent?.json.event, 'webhooks.test');
    const [delivery] = await eventually('the delivery is logged', async () => {
      const found = listAt((await ann.get(`${own}/deliveries?${mine}&status=success`)).json, 'data');
      return found.length > 0 && found;
    });
    const one = `${own}/deliveries/${at(delivery ?? {}, 'id')}`;
    assert.equal(await status(ann, 'GET', `${one}?${mine}`), 200);
    assert.equal(await status(ann, 'POST', `${one}/redeliver?${mine}`), 201);
    assert.equal(await status(ann, 'POST', `${own}/replay?${mine}`, { since: 0, dry_run: true }), 200);
    assert.equal(at((await ann.get(`${own}/status?${mine}`)).json, 'data.state'), 'active');
    assert.equal(await status(ann, 'POST', `${own}/regenerate-secret?${mine}`, {}), 200);
    assert.equal(await status(ann, 'DELETE', `${own}?${mine}`), 200);
  });

  await t.test('nobody else', async () => {
    const theirs = await own(south, receiver.url);
    const plain = await admin.post(adminPath, { ...body, name: 'plain' });
    for (const [client, method, where, expected] of [
      [target.guest, 'GET', `${path}?${mine}`, 401],
      [ann, 'GET', `${path}?owner=firms/${south}`, 404],
      [ann, 'GET', `${path}?owner=firms/nobody`, 404],
      [ann, 'GET', `${path}?owner=staff/${north}`, 404],
      [ann, 'GET', path, 400],
      [ann, 'GET', `${path}?owner=firms`, 400],
      [ann, 'GET', `${path}/${theirs}?${mine}`, 404],
      [ann, 'GET', `${path}/${plain.id}?${mine}`, 404],
      [ann, 'DELETE', `${path}/${theirs}?${mine}`, 404],
      [ann, 'GET', `${path}/${theirs}/deliveries?${mine}`, 404],
      [ann, 'GET', adminPath, 403],
    ] as const)
      assert.equal(await status(client, method, where), expected, `${method} ${where}`);
    await allow({ manage_rule: '' });
    await eventually('only admins manage', async () => (await status(ann, 'GET', `${path}?${mine}`)) === 404);
    await allow();
  });

  await t.test('URLs, events and numbers stay within the setting', async () => {
    await allow({ hosts: [], max: 1 });
    const refused = async (given: object, place: string) => {
      const { status: code, json } = await admin.send('POST', `${path}?${mine}`, { body: { ...body, ...given } });
      assert.deepEqual([code, Object.keys(objectAt(json, 'details'))], [422, [place]]);
    };
    const good = 'https://hooks.example.com/in';
    await eventually('the setting applies', () =>
      refused({ url: 'http://hooks.example.com/' }, 'url').then(() => true),
    );
    await refused({ url: 'https://hooks.example.com:8443/' }, 'url');
    await refused({ url: good, events: ['orders.*', 'firms.*'] }, 'events');
    await refused({ url: good, events: ['*'] }, 'events');
    const made = await admin.post(`${path}?${mine}`, { ...body, url: good });
    await refused({ url: good }, 'owner');
    assert.equal(await status(admin, 'PATCH', `${adminPath}/${made.id}`, { url: receiver.url }), 422);
    await allow({ hosts: ['https://*.example.com:8443'] });
    await eventually('the setting applies', () => refused({ url: good }, 'url').then(() => true));
  });

  await t.test('rules and settings are checked', async () => {
    for (const [rule, message] of [
      [null, /string/],
      ['firm = @owner.nothing', /no record has @owner.nothing/],
      ['firm = @request.auth.id', /@request/],
      ['nothing = @owner.id', /no field "nothing"/],
    ] as const) {
      const answer = await admin.send('PATCH', `${collections}/orders`, { body: { webhook_rule: rule } });
      assert.equal(answer.status, 422);
      assert.match(String(at(answer.json, 'details.webhook_rule')), message);
    }
    const list = await admin.send('PATCH', `${collections}/orders`, { body: { list_rule: 'firm = @owner.id' } });
    assert.match(String(at(list.json, 'details.list_rule')), /@owner is for webhook_rule/);
    for (const [key, value] of [
      [ownersKey, 'no JSON'],
      [ownersKey, '{"manage_rule":"nothing = 1"}'],
      [ownersKey, '{"manage_rule":"@request.body.x = 1"}'],
      [ownersKey, '{"max":0}'],
      [ownersKey, '{"colour":"red"}'],
      ['webhooks.owners.nowhere', '{}'],
    ] as const) {
      const answer = await admin.send('PATCH', '/api/v1/admin/settings', { body: { [key]: value } });
      assert.equal(answer.status, 422, `${key} ${value}`);
    }
    const answer = await admin.send('POST', adminPath, { body: { ...body, owner: { collection: 'orders', id: 'x' } } });
    assert.deepEqual([answer.status, Object.keys(objectAt(answer.json, 'details'))], [422, ['owner']]);
  });
});
