import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { startCannedServer } from '../harness/canned-server.ts';
import type { Answer } from '../harness/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at, objectAt, textAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { redirectUri } from '../harness/oidc-server.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios } from '../harness/scenario.ts';
import { onEachTopology, type Target } from '../harness/target.ts';

const password = 'a long and winding password';
const settingsPath = '/api/v1/admin/settings';

/** A provider that returns a new person each time, and the routes by which guests get an account. */
async function givenDoors(t: TestContext, target: Target, collection: string) {
  const admin = await target.admin();
  const server = await startCannedServer();
  t.after(() => server[Symbol.asyncDispose]());
  await admin.patch(settingsPath, {
    'auth.anonymous.enabled': '1',
    'hooks.http.allow': '127.0.0.1',
    'oauth2.gitlab.enabled': '1',
    'oauth2.gitlab.client_id': 'id',
    'oauth2.gitlab.client_secret': 'secret',
    'oauth2.gitlab.endpoint': server.url,
  });
  let people = 0;
  const someone = (): number => {
    people += 1;
    return people;
  };
  const email = () => `guest${someone()}@example.com`;
  const post = (path: string, body: object) => target.guest.send('POST', path, { body });
  const auth = `/api/v1/auth/${collection}`;
  const exchangeAs = (id: number, record: object) => {
    server.answer({
      '/oauth/token': { body: JSON.stringify({ access_token: 't' }) },
      '/api/v4/user': { body: JSON.stringify({ id }) },
    });
    return post(`${auth}/oauth2/exchange`, { provider: 'gitlab', redirectUri, code: 'c', record });
  };
  const doors: Readonly<Record<string, (fields: object) => Promise<Answer>>> = {
    register: (fields) => post(`${auth}/register`, { email: email(), password, ...fields }),
    anonymous: (fields) => post(`${auth}/anonymous`, fields),
    exchange: (fields) => exchangeAs(someone(), fields),
    'records API': (fields) => post(`/api/v1/${collection}`, { email: email(), password, ...fields }),
  };
  return { admin, doors, exchangeAs, post, auth };
}

const fields = [{ name: 'role', type: 'text' }];

onEachTopology('the create rule is asked of every new account', async (t, target) => {
  const { admin, doors } = await givenDoors(t, target, 'crew');
  await admin.post('/api/v1/collections', { name: 'crew', type: 'auth', fields });
  const rules: readonly (readonly [rule: string, good: object, bad: object])[] = [
    ['role = "member"', { role: 'member' }, { role: 'admin' }],
    ['@request.body.role:isset = false', {}, { role: 'admin' }],
    ['@request.auth.type = "user" || role = null', {}, { role: 'x' }],
  ];
  for (const [create_rule, good, bad] of rules) {
    await admin.patch('/api/v1/collections/crew', { create_rule });
    for (const [name, enter] of Object.entries(doors))
      await t.test(`${create_rule}, by ${name} [auth §3.2, §3.3]`, async () => {
        await eventually('the rule counts', async () => (await enter({ role: 'early' })).status === 403);
        const refusal = await enter(bad);
        assert.equal(refusal.status, 403, refusal.text);
        assert.equal(at(refusal.json, 'code'), 'forbidden');
        const entered = await enter(good);
        assert.ok([200, 201].includes(entered.status), entered.text);
      });
  }
  await t.test('nobody who was refused has an account', async () => {
    const { json } = await admin.get('/api/v1/crew?filter=role="admin"');
    assert.equal(at(json, 'totalItems'), 0);
  });
  await t.test('a rule for admins closes the records API and no other door', async () => {
    await admin.patch('/api/v1/collections/crew', { create_rule: '' });
    await eventually('the rule counts', async () => (await doors['records API']?.({}))?.status === 403);
    for (const name of ['register', 'anonymous', 'exchange'])
      assert.ok([200, 201].includes((await doors[name]?.({}))?.status ?? 0), name);
  });
  await t.test('a header that the rule names is seen at the door', async () => {
    await admin.patch('/api/v1/collections/crew', { create_rule: '@request.headers.x_invite = "welcome"' });
    const register = (invite: string, email: string) =>
      target.guest.send('POST', '/api/v1/auth/crew/register', {
        body: { email, password },
        headers: { 'X-Invite': invite },
      });
    await eventually('the rule counts', async () => (await register('none', 'a@example.org')).status === 403);
    assert.equal((await register('welcome', 'b@example.org')).status, 201);
  });
});

onEachTopology('a closed collection takes no new accounts', async (t, target) => {
  const { admin, doors, exchangeAs, post, auth } = await givenDoors(t, target, 'club');
  const collection = await admin.post('/api/v1/collections', { name: 'club', type: 'auth', fields, create_rule: null });
  await eventually('anonymous sign-in is on', async () => (await doors.anonymous?.({}))?.status === 201);
  const member = { email: 'member@example.com', password };
  await post(`${auth}/register`, member);
  const linked = textAt((await exchangeAs(900, {})).json, 'data.record.id');
  const closed = { status: 403, json: { error: is.text, code: 'sign_up_closed' } };
  await admin.patch(settingsPath, { 'auth.sign_up.club': 'closed' });
  for (const [name, enter] of Object.entries(doors))
    await t.test(`not by ${name} [auth §3.2, §3.3]`, async () => {
      await eventually('it is closed', async () => (await enter({})).status === 403);
      assert.equal(at((await enter({})).json, 'code'), 'sign_up_closed');
    });
  await runScenarios(t, target, [
    {
      name: 'whatever the body says',
      request: `POST ${auth}/register`,
      body: { email: 5 },
      expect: closed,
      spec: 'auth §3.2, §3.3',
    },
    {
      name: 'an admin makes accounts all the same',
      as: 'admin',
      request: 'POST /api/v1/club',
      body: { email: 'made@example.com', password },
      expect: { status: 201 },
      events: ['club.create'],
      spec: 'auth §3.2, §3.3',
    },
    {
      name: 'who has an account signs in',
      request: `POST ${auth}/login`,
      body: member,
      expect: { status: 200 },
      spec: 'auth §3.2, §3.3',
    },
    {
      name: 'a setting of a collection that is not there is refused, and named',
      as: 'admin',
      request: `PATCH ${settingsPath}`,
      body: { 'auth.sign_up.nowhere': 'closed', 'auth.sign_up.club': 'open' },
      expect: refused.invalid('auth.sign_up.nowhere'),
      spec: 'auth §3.2, §3.3',
    },
    {
      name: 'so is a value that is none',
      as: 'admin',
      request: `PATCH ${settingsPath}`,
      body: { 'auth.sign_up.club': 'shut' },
      expect: refused.invalid('auth.sign_up.club'),
      spec: 'auth §3.2, §3.3',
    },
  ]);
  await t.test('who is linked signs in', async () => {
    const again = await exchangeAs(900, {});
    assert.equal(at(again.json, 'data.record.id'), linked, again.text);
  });
  await t.test('the setting follows the name of the collection, and goes with it', async () => {
    const id = textAt(collection, 'id');
    const shown = async (name: string) => objectAt((await admin.get(settingsPath)).json, 'data')[name];
    await admin.patch(`/api/v1/collections/${id}`, { name: 'society' });
    assert.equal(await shown('auth.sign_up.society'), 'closed');
    assert.equal(await shown('auth.sign_up.club'), undefined);
    const enter = () => post('/api/v1/auth/society/register', { email: 'new@example.com', password });
    await eventually('it is closed by its new name', async () => (await enter()).status === 403);
    await admin.delete(`/api/v1/collections/${id}`);
    await admin.post('/api/v1/collections', { name: 'society', type: 'auth' });
    assert.equal(await shown('auth.sign_up.society'), undefined);
    await eventually('a new one of the name is open', async () => (await enter()).status === 201);
  });
});
