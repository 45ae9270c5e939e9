import assert from 'node:assert/strict';
import { type Answer, type Client, createClient } from '../harness/clients/client.ts';
import { openLive } from '../harness/clients/live-client.ts';
import { eventually } from '../harness/eventually.ts';
import { at, listAt, objectAt, textAt } from '../harness/json.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

const password = 'a long and winding password';
const collections = '/api/v1/collections';

const refusedIn = (answer: Answer) =>
  assert.deepEqual([answer.status, at(answer.json, 'code')], [403, 'sign_in_refused'], answer.text);

onEachTopology('sign_in_rule says which accounts may sign in [auth §4.5]', async (t, target) => {
  const admin = await target.admin();
  const { guest } = target;
  await admin.post(collections, { name: 'clubs', fields: [{ name: 'open', type: 'bool' }] });
  const open = await admin.create('clubs', { open: true });
  const text = (name: string) => ({ name, type: 'text' });
  await admin.post(collections, {
    name: 'guests_of',
    type: 'auth',
    update_rule: 'id = @request.auth.id',
    fields: [text('state'), text('note'), { name: 'club', type: 'relation', collection: 'clubs' }],
  });
  const path = `${collections}/guests_of`;
  const auth = '/api/v1/auth/guests_of';
  const setRule = async (rule: string | null) => {
    const { status, text: answer } = await admin.send('PATCH', path, { body: { sign_in_rule: rule } });
    assert.equal(status, 200, answer);
  };
  const account = (name: string, fields: object = {}) =>
    admin.create('guests_of', { email: `${name}@example.com`, password, ...fields });
  const login = (name: string, entered = password) =>
    guest.send('POST', `${auth}/login`, { body: { email: `${name}@example.com`, password: entered } });
  const clientOf = ({ status, json, text: answer }: Answer): Client => {
    assert.equal(status, 200, answer);
    return createClient(target.url, textAt(json, 'data.token'));
  };
  const isAlive = async (client: Client) => (await client.send('GET', `${auth}/sessions`)).status === 200;
  const ends = (client: Client) => eventually('the session ends', async () => !(await isAlive(client)));
  const applies = (name: string) => eventually('the rule applies', async () => (await login(name)).status === 403);

  await t.test('only auth collections have it, and it is about the account alone', async () => {
    for (const [method, where, body, place] of [
      ['POST', collections, { name: 'plain', fields: [], sign_in_rule: 'id != ""' }, 'sign_in_rule'],
      ['PATCH', `${collections}/clubs`, { sign_in_rule: '' }, 'sign_in_rule'],
      ['PATCH', path, { sign_in_rule: '@request.auth.id != ""' }, 'sign_in_rule'],
      ['PATCH', path, { sign_in_rule: '@request.body.note = "x"' }, 'sign_in_rule'],
      ['PATCH', path, { sign_in_rule: 'nothing = 1' }, 'sign_in_rule'],
      ['PATCH', path, { sign_in_rule: 5 }, 'sign_in_rule'],
    ] as const) {
      const { status, json } = await admin.send(method, where, { body });
      assert.deepEqual([status, Object.keys(objectAt(json, 'details'))], [422, [place]]);
    }
    assert.equal(at((await admin.get(path)).json, 'data.sign_in_rule'), null);
    assert.equal(at((await admin.get(`${collections}/clubs`)).json, 'data.sign_in_rule'), undefined);
  });

  await t.test('null admits every account, "" none', async () => {
    await account('ann', { state: 'active' });
    const ann = clientOf(await login('ann'));
    await setRule('');
    await ends(ann);
    refusedIn(await login('ann'));
    await setRule(null);
    await eventually('the rule is gone', async () => (await login('ann')).status === 200);
    assert.equal(await isAlive(ann), false, 'an ended session stays ended');
  });

  await t.test('a wrong password is 401, whatever the rule says of the account', async () => {
    await setRule('state = "active"');
    await account('bob', { state: 'new' });
    await applies('bob');
    assert.equal((await login('bob', 'wrong')).status, 401);
    assert.equal((await login('nobody', 'wrong')).status, 401);
    clientOf(await login('ann'));
  });

  await t.test('a registration that it refuses makes nothing', async () => {
    const register = (name: string, state: string) =>
      guest.send('POST', `${auth}/register`, { body: { email: `${name}@example.com`, password, state } });
    refusedIn(await register('cid', 'new'));
    const found = await admin.get('/api/v1/guests_of?filter=email="cid@example.com"');
    assert.deepEqual(listAt(found.json, 'data'), []);
    assert.equal((await register('cid', 'active')).status, 201);
  });

  await t.test('an anonymous sign-in, an impersonation and a refresh are refused too', async () => {
    await admin.patch('/api/v1/admin/settings', { 'auth.anonymous.enabled': '1' });
    const anonymous = (state: string) => guest.send('POST', `${auth}/anonymous`, { body: { state } });
    await eventually('the setting applies', async () => (await anonymous('active')).status === 201);
    const before = at((await admin.get('/api/v1/guests_of?perPage=1')).json, 'totalItems');
    refusedIn(await anonymous('new'));
    assert.equal(at((await admin.get('/api/v1/guests_of?perPage=1')).json, 'totalItems'), before);
    const dan = await account('dan', { state: 'new' });
    refusedIn(await admin.send('POST', `/api/v1/admin/impersonate/guests_of/${dan.id}`));
    await admin.patch('/api/v1/admin/settings', { 'auth.anonymous.enabled': '' });
  });

  await t.test("a second factor's token is not issued to a refused account", async () => {
    const eve = await account('eve', { state: 'active' });
    const session = clientOf(await login('eve'));
    const setup = await session.send('POST', `${auth}/totp/setup`, { body: {} });
    assert.ok(setup.status < 300, setup.text);
    await admin.patch(`/api/v1/guests_of/${eve.id}`, { state: 'gone' });
    await ends(session);
    refusedIn(await login('eve'));
  });

  await t.test('sessions end within a second when the account no longer fulfils it, and stay ended', async () => {
    const fay = await account('fay', { state: 'active' });
    const sessions = await Promise.all([login('fay'), login('fay')]);
    const clients = sessions.map(clientOf);
    const acted = clientOf(await admin.send('POST', `/api/v1/admin/impersonate/guests_of/${fay.id}`));
    const other = clientOf(await login('ann'));
    await admin.patch(`/api/v1/guests_of/${fay.id}`, { note: 'still active' });
    await admin.patch(`/api/v1/guests_of/${fay.id}`, { state: 'suspended' });
    for (const client of [...clients, acted]) await ends(client);
    assert.equal(await isAlive(other), true);
    await admin.patch(`/api/v1/guests_of/${fay.id}`, { state: 'active' });
    for (const client of clients) assert.equal(await isAlive(client), false);
    clientOf(await login('fay'));
  });

  await t.test('an account can end its own sessions by a field that it may write', async () => {
    const gus = await account('gus', { state: 'active' });
    const client = clientOf(await login('gus'));
    assert.equal((await client.send('PATCH', `/api/v1/guests_of/${gus.id}`, { body: { state: 'left' } })).status, 200);
    await ends(client);
    refusedIn(await login('gus'));
  });

  await t.test('a live connection ends with the session', async () => {
    const hal = await account('hal', { state: 'active' });
    const token = textAt((await login('hal')).json, 'data.token');
    await using live = await openLive(target.url, [{ collection: 'clubs' }], { token });
    await live.arrived('ready');
    await admin.patch(`/api/v1/guests_of/${hal.id}`, { state: 'gone' });
    await live.arrived('revoked');
    await live.closed();
  });

  await t.test('a rule reads other collections, whose changes end sessions too', async () => {
    await setRule('club.open = true');
    await account('ida', { club: open.id });
    await account('joe');
    await applies('joe');
    const ida = clientOf(await login('ida'));
    await admin.patch(`/api/v1/clubs/${open.id}`, { open: false });
    await ends(ida);
    refusedIn(await login('ida'));
    await admin.patch(`/api/v1/clubs/${open.id}`, { open: true });
    const again = clientOf(await login('ida'));
    await admin.delete(`/api/v1/clubs/${open.id}`);
    await ends(again);
  });

  await t.test('a rule that reads the time ends sessions when it passes', async () => {
    await admin.post(`${path}/fields`, { name: 'until', type: 'date' });
    await setRule('until > @now');
    const kim = await account('kim', { until: Math.floor(Date.now() / 1000) + 3600 });
    await eventually('the rule applies', async () => (await login('ann')).status === 403);
    const client = clientOf(await login('kim'));
    await admin.patch(`/api/v1/guests_of/${kim.id}`, { until: Math.floor(Date.now() / 1000) + 2 });
    await ends(client);
  });

  await t.test('it follows renamed fields and collections, and names keep a dropped field', async () => {
    await setRule('state = "active"');
    await admin.patch(`${path}/fields/state`, { name: 'standing' });
    assert.equal(at((await admin.get(path)).json, 'data.sign_in_rule'), 'standing = "active"');
    assert.equal((await admin.send('DELETE', `${path}/fields/standing`)).status, 422);
    await admin.patch(path, { name: 'members_of' });
    const session = await eventually('the new name applies', async () => {
      const body = { email: 'ann@example.com', password };
      const answer = await guest.send('POST', '/api/v1/auth/members_of/login', { body });
      return answer.status === 200 && answer;
    });
    const ann = createClient(target.url, textAt(session.json, 'data.token'));
    const id = textAt(session.json, 'data.record.id');
    await admin.patch(`/api/v1/members_of/${id}`, { standing: 'gone' });
    await eventually(
      'the session ends',
      async () => (await ann.send('GET', '/api/v1/auth/members_of/sessions')).status === 401,
    );
  });

  await t.test('snapshots and schema files have it [collections §11, schema §2.2]', async () => {
    const current = objectAt((await admin.get('/api/v1/admin/schema')).json, 'data');
    const files = listAt(current, 'collections');
    const file = files.find(({ name }) => name === 'members_of');
    assert.equal(file?.sign_in_rule, 'standing = "active"');
    const { sign_in_rule: _, ...without } = file ?? {};
    const schema = {
      version: 1,
      collections: files.map((one) => (one === file ? without : one)),
    };
    const plan = await admin.send('POST', '/api/v1/admin/schema/plan', { body: { schema } });
    assert.deepEqual(at(plan.json, 'data.changes.0.changed'), [
      { member: 'sign_in_rule', before: 'standing = "active"', after: null },
    ]);
    const { json } = await admin.get('/api/v1/admin/migrations/snapshot');
    const snapshot = objectAt(json, 'data');
    const taken = listAt(snapshot, 'collections').find(({ name }) => name === 'members_of');
    assert.equal(taken?.sign_in_rule, 'standing = "active"');
    await admin.patch(`${collections}/members_of`, { sign_in_rule: null });
    const body = { snapshot, mode: 'sync' };
    const applied = await admin.send('POST', '/api/v1/admin/migrations/apply', { body });
    assert.equal(applied.status, 200, applied.text);
    assert.equal(at((await admin.get(`${collections}/members_of`)).json, 'data.sign_in_rule'), 'standing = "active"');
  });
});
