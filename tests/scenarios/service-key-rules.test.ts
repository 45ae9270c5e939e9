import assert from 'node:assert/strict';
import { listAt } from '../harness/json.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { makeKey } from './service-keys.ts';

const text = (name: string) => ({ name, type: 'text' });
const closed = { list_rule: '', view_rule: '', create_rule: '', update_rule: '', delete_rule: '' };

onEachTopology('a key goes through the rules as a service', async (t, target) => {
  const admin = await target.admin();
  const rule = '@request.auth.type = "service" && owner = @request.auth.id';
  await admin.post('/api/v1/collections', {
    name: 'ruled',
    type: 'base',
    list_rule: rule,
    view_rule: rule,
    create_rule: '@request.auth.type = "service"',
    update_rule: rule,
    delete_rule: '',
    fields: [
      { ...text('owner'), options: { default: '@request.auth.id' } },
      text('word'),
      { ...text('shown'), view_rule: '@request.auth.type = "service"' },
      { ...text('mine'), view_rule: '@request.auth.collection = "members"' },
    ],
  });
  await admin.post('/api/v1/collections', {
    name: 'pointing',
    type: 'base',
    ...closed,
    fields: [{ name: 'to', type: 'relation', collection: 'ruled' }],
  });
  const key = await makeKey(target, ['rules:ruled', 'records:pointing:write']);
  const other = await makeKey(target, ['rules:*']);

  await t.test('with its type and its id [keys §5.5]', async () => {
    const own = await key.create('ruled', { word: 'a', shown: 's', mine: 'm' });
    assert.equal(own.owner, key.id);
    assert.equal(own.shown, 's');
    assert.equal('mine' in own, false);
    const foreign = await other.create('ruled', { word: 'b' });
    assert.deepEqual(
      listAt((await key.get('/api/v1/ruled')).json, 'data').map(({ id }) => id),
      [own.id],
    );
    assert.equal((await key.get(`/api/v1/ruled/${foreign.id}`)).status, 403);
    assert.equal((await key.send('PATCH', `/api/v1/ruled/${foreign.id}`, { body: { word: 'c' } })).status, 403);
    await key.patch(`/api/v1/ruled/${own.id}`, { word: 'c' });
    assert.equal((await key.send('DELETE', `/api/v1/ruled/${own.id}`)).status, 403);
    assert.equal((await (await target.user()).get('/api/v1/ruled')).status, 200);
    const filter = (path: string) => key.get(`/api/v1/ruled?filter=${encodeURIComponent(path)}`);
    assert.equal((await filter('shown = "s"')).status, 200);
    assert.equal((await filter('mine = "m"')).status, 400);
  });

  await t.test('filters over relations see what the rule shows [keys §5.3]', async () => {
    const own = await key.create('ruled', { word: 'seen' });
    const foreign = await other.create('ruled', { word: 'seen' });
    const ofOwn = await key.create('pointing', { to: own.id });
    await key.create('pointing', { to: foreign.id });
    const found = await key.get(`/api/v1/pointing?filter=${encodeURIComponent('to.word = "seen"')}&expand=to`);
    assert.deepEqual(
      listAt(found.json, 'data').map(({ id }) => id),
      [ofOwn.id],
    );
    const all = listAt((await key.get('/api/v1/pointing?expand=to')).json, 'data');
    assert.equal(all.filter(({ expand }) => expand !== undefined && JSON.stringify(expand) !== '{}').length, 1);
  });

  await t.test("it cannot do admins' work [keys §4.3]", async () => {
    const { id, created } = await key.create('ruled', { word: 'x' });
    const answer = await key.send('POST', `/api/v1/ruled/${id}/restore?at=${created}`);
    assert.equal(answer.status, 403);
  });
});
