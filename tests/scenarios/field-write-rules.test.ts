import assert from 'node:assert/strict';
import { file, multipart } from '../harness/clients/multipart.ts';
import { eventually } from '../harness/eventually.ts';
import { at, textAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { createStaff, type Role, roles } from './staff.ts';
import { auth, clientOf, createUsers, password } from './users.ts';

const unwritable = (...fields: readonly string[]) => ({
  status: 403,
  json: {
    error: "a field's rule does not allow it",
    code: 'forbidden',
    details: Object.fromEntries(fields.map((field) => [field, 'may not be written by this caller'])),
  },
});

onEachTopology('field write rules decide what bodies may name', async (t, target) => {
  const { clients, ada, boss, ownerId } = await createStaff(target);
  const { admin } = clients;
  const refusals = async (method: string, path: string, body: object) => {
    const found: string[] = [];
    // Runs them one after the other, because an admin's write may change what the owner may write.
    for (const role of roles) {
      const { status, json } = await clients[role].send(method, path, { body });
      found.push(status < 400 ? 'written' : `${status} ${Object.keys(at(json, 'details') as object)}`);
    }
    return found;
  };

  await t.test('a create that names them is refused [fields §5.5]', async () => {
    const create = (body: object) => refusals('POST', '/api/v1/staff', body);
    assert.deepEqual(await create({ name: 'x', rank: 2 }), ['403 rank', '403 rank', '403 rank', 'written']);
    assert.deepEqual(await create({ name: 'x', rank: null }), ['403 rank', '403 rank', '403 rank', 'written']);
    assert.deepEqual(await create({ bio: 'x' }), ['403 bio', '403 bio', '403 bio', 'written']);
    const own = { owner: ownerId, bio: 'x' };
    assert.deepEqual(await create(own), ['403 bio', '403 bio', 'written', 'written'], 'the rule sees the new record');
    assert.deepEqual(await create({ ...own, rank: 1 }), ['403 bio,rank', '403 rank', '403 rank', 'written']);
  });

  await t.test('an update that names them is refused [fields §5.5]', async () => {
    const update = (body: object, { id } = ada) => refusals('PATCH', `/api/v1/staff/${id}`, body);
    assert.deepEqual(await update({ rank: 1 }), ['403 rank', '403 rank', '403 rank', 'written']);
    assert.deepEqual(await update({ rank: { $add: 1 } }), ['403 rank', '403 rank', '403 rank', 'written']);
    assert.deepEqual(await update({ bio: 'new' }), ['403 bio', '403 bio', 'written', 'written']);
    const taken = { owner: ownerId, bio: 'mine' };
    assert.deepEqual(await update(taken, boss), ['403 bio', '403 bio', '403 bio', 'written'], 'of the stored record');
  });

  await t.test('a refused update writes nothing [fields §5.5]', async () => {
    const record = await admin.create('staff', { name: 'still', bio: 'still' });
    await clients.owner.send('PATCH', `/api/v1/staff/${record.id}`, { body: { name: 'changed', bio: 'changed' } });
    assert.equal(at((await admin.get(`/api/v1/staff/${record.id}`)).json, 'data.name'), 'still');
    const rows = (await admin.get(`/api/v1/staff/${record.id}/history`)).json;
    assert.equal(at(rows, 'data.totalItems'), 1);
  });

  await t.test('defaults are set nevertheless [fields §5.5]', async () => {
    const { id, rank } = await clients.guest.create('staff', { name: 'x' });
    assert.deepEqual([rank, at((await admin.get(`/api/v1/staff/${id}`)).json, 'data.rank')], [1, 1]);
  });

  await t.test('the update rule comes first, and a missing record after a closed field [fields §5.5]', async () => {
    const send = async (role: Role, id: string, body: object) =>
      (await clients[role].send('PATCH', `/api/v1/staff/${id}`, { body })).status;
    assert.deepEqual(
      [await send('owner', 'missing', { rank: 1 }), await send('owner', 'missing', { bio: 'x' })],
      [403, 404],
    );
    await admin.patch('/api/v1/collections/staff', { update_rule: 'name = "nobody"' });
    await eventually('the update rule refuses first', async () => {
      const { status, json } = await clients.owner.send('PATCH', `/api/v1/staff/${boss.id}`, { body: { bio: 'x' } });
      return status === 403 && at(json, 'details') === undefined;
    });
    await admin.patch('/api/v1/collections/staff', { update_rule: null });
    await eventually('the update rule is gone', async () => (await send('guest', ada.id, { name: 'Ada' })) === 200);
  });

  await t.test('a form that names them is refused [fields §5.5]', async () => {
    const fields = [
      { name: 'open', type: 'text' },
      { name: 'paper', type: 'file', write_rule: '' },
    ];
    await admin.post('/api/v1/collections', { name: 'papers', type: 'base', fields });
    const send = (role: Role) => clients[role].send('POST', '/api/v1/papers', multipart(file('paper', 'a.txt', 'a')));
    assert.deepEqual([(await send('owner')).status, (await send('admin')).status], [403, 201]);
  });

  const row = (name: string, body: object, expect: Scenario['expect'], more: Partial<Scenario> = {}): Scenario => ({
    name,
    request: `PATCH /api/v1/staff/${ada.id}`,
    body,
    expect,
    spec: 'fields §5.5',
    ...more,
  });
  await runScenarios(t, target, [
    row('a closed field', { name: 'y', rank: 2 }, unwritable('rank')),
    row('a field whose rule does not hold', { bio: 'y' }, unwritable('bio'), { as: 'user' }),
    row('a field whose rule never holds for guests', { bio: 'y' }, unwritable('bio')),
    row(
      'an invalid token',
      { bio: 'y' },
      { status: 401, json: is.containing({ details: { bio: is.text } }) },
      {
        headers: { Authorization: 'Bearer expired.or.forged' },
      },
    ),
    row('other fields', { name: 'Ada' }, { status: 200 }, { events: ['staff.update'] }),
  ]);
});

onEachTopology('write rules hold at the doors of accounts', async (t, target) => {
  const fields = [
    { name: 'nick', type: 'text', write_rule: 'nick = "good" || @request.query.invite = "yes"' },
    { name: 'role', type: 'text', write_rule: '', options: { default: 'member' } },
  ];
  const users = await createUsers(target, { fields });
  const admin = await target.admin();
  await admin.patch('/api/v1/admin/settings', { 'auth.anonymous.enabled': '1' });
  let count = 0;
  const register = (body: object, query = '') => {
    count += 1;
    const email = `n${count}@example.com`;
    return target.guest.send('POST', `${auth}/${users}/register${query}`, { body: { email, password, ...body } });
  };
  const anonymous = (body: object) => target.guest.send('POST', `${auth}/${users}/anonymous`, { body });

  await t.test('apply to a registration [fields §5.5]', async () => {
    const open = await register({});
    assert.deepEqual([open.status, at(open.json, 'data.record.role')], [201, 'member']);
    const closed = await register({ role: 'chief' });
    assert.deepEqual([closed.status, Object.keys(at(closed.json, 'details') as object)], [403, ['role']]);
    const refusedOne = await register({ nick: 'bad' });
    assert.deepEqual([refusedOne.status, Object.keys(at(refusedOne.json, 'details') as object)], [403, ['nick']]);
    assert.equal((await register({ nick: 'good' })).status, 201);
    assert.equal((await register({ nick: 'bad' }, '?invite=yes')).status, 201);
    const all = await admin.get(`/api/v1/${users}?filter=role="chief"`);
    assert.equal(at(all.json, 'totalItems'), 0);
  });

  await t.test('apply to an anonymous user [fields §5.5]', async () => {
    assert.deepEqual(
      [
        (await anonymous({ role: 'x' })).status,
        (await anonymous({ nick: 'bad' })).status,
        (await anonymous({ nick: 'good' })).status,
      ],
      [403, 403, 201],
    );
  });

  await t.test('apply when the address changes [fields §5.5]', async () => {
    const definitions = JSON.parse(textAt((await admin.get(`/api/v1/collections/${users}`)).json, 'data.fields'));
    const closed = definitions.map((field: { name: string }) =>
      field.name === 'email' ? { ...field, write_rule: '' } : field,
    );
    await admin.patch(`/api/v1/collections/${users}`, { fields: closed });
    // A registration would name the address, so an admin creates the account.
    const { id } = await admin.create(users, { email: 'set@example.com', password });
    const session = await target.guest.post(`${auth}/${users}/login`, { email: 'set@example.com', password }, 200);
    const body = { email: 'other@example.com', old_password: password };
    const own = clientOf(target, session);
    await eventually('the address is closed', async () => {
      const { status } = await own.send('PATCH', `/api/v1/${users}/${id}`, { body });
      return status === 403 && (await register({})).status === 403;
    });
  });
});
