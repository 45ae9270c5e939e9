import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Answer } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at, objectAt, textAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { startCannedServer } from '../harness/servers/canned-server.ts';
import { redirectUri } from '../harness/servers/oidc-server.ts';
import { runScenarios } from '../harness/stacks/scenario.ts';
import { onEachTopology, type Target } from '../harness/stacks/target.ts';

const password = 'a long and winding password';
const settingsPath = '/api/v1/admin/settings';

/** Sets up a provider that returns a new person each time, and the routes by which guests get an account. */
async function prepareRoutes(t: TestContext, target: Target, collection: string) {
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
  const nextPerson = (): number => {
    people += 1;
    return people;
  };
  const email = () => `guest${nextPerson()}@example.com`;
  const post = (path: string, body: object) => target.guest.send('POST', path, { body });
  const auth = `/api/v1/auth/${collection}`;
  const exchangeAs = (id: number, record: object) => {
    server.answer({
      '/oauth/token': { body: JSON.stringify({ access_token: 't' }) },
      '/api/v4/user': { body: JSON.stringify({ id }) },
    });
    return post(`${auth}/oauth2/exchange`, { provider: 'gitlab', redirectUri, code: 'c', record });
  };
  const routes: Readonly<Record<string, (fields: object) => Promise<Answer>>> = {
    register: (fields) => post(`${auth}/register`, { email: email(), password, ...fields }),
    anonymous: (fields) => post(`${auth}/anonymous`, fields),
    exchange: (fields) => exchangeAs(nextPerson(), fields),
    'records API': (fields) => post(`/api/v1/${collection}`, { email: email(), password, ...fields }),
  };
  return { admin, routes, exchangeAs, post, auth };
}

const fields = [{ name: 'role', type: 'text' }];

onEachTopology('the create rule is checked for every new account', async (t, target) => {
  const { admin, routes } = await prepareRoutes(t, target, 'crew');
  await admin.post('/api/v1/collections', { name: 'crew', type: 'auth', fields });
  const rules: readonly (readonly [rule: string, good: object, bad: object])[] = [
    ['role = "member"', { role: 'member' }, { role: 'admin' }],
    ['@request.body.role:isset = false', {}, { role: 'admin' }],
    ['@request.auth.type = "user" || role = null', {}, { role: 'x' }],
  ];
  for (const [create_rule, good, bad] of rules) {
    await admin.patch('/api/v1/collections/crew', { create_rule });
    for (const [name, signUp] of Object.entries(routes))
      await t.test(`${create_rule}, by ${name} [auth §3.2, §3.3]`, async () => {
        await eventually('the rule applies', async () => (await signUp({ role: 'early' })).status === 403);
        const refusal = await signUp(bad);
        assert.equal(refusal.status, 403, refusal.text);
        assert.equal(at(refusal.json, 'code'), 'forbidden');
        const accepted = await signUp(good);
        assert.ok([200, 201].includes(accepted.status), accepted.text);
      });
  }
  await t.test('a refused sign-up creates no account', async () => {
    const { json } = await admin.get('/api/v1/crew?filter=role="admin"');
    assert.equal(at(json, 'totalItems'), 0);
  });
  await t.test('a rule for admins closes the records API, but no other route', async () => {
    await admin.patch('/api/v1/collections/crew', { create_rule: '' });
    await eventually('the rule applies', async () => (await routes['records API']?.({}))?.status === 403);
    for (const name of ['register', 'anonymous', 'exchange'])
      assert.ok([200, 201].includes((await routes[name]?.({}))?.status ?? 0), name);
  });
  await t.test('the rule can read a request header', async () => {
    await admin.patch('/api/v1/collections/crew', { create_rule: '@request.headers.x_invite = "welcome"' });
    const register = (invite: string, email: string) =>
      target.guest.send('POST', '/api/v1/auth/crew/register', {
        body: { email, password },
        headers: { 'X-Invite': invite },
      });
    await eventually('the rule applies', async () => (await register('none', 'a@example.org')).status === 403);
    assert.equal((await register('welcome', 'b@example.org')).status, 201);
  });
});

onEachTopology('a closed collection refuses new accounts', async (t, target) => {
  const { admin, routes, exchangeAs, post, auth } = await prepareRoutes(t, target, 'club');
  const collection = await admin.post('/api/v1/collections', { name: 'club', type: 'auth', fields, create_rule: null });
  await eventually('anonymous sign-in is enabled', async () => (await routes.anonymous?.({}))?.status === 201);
  const member = { email: 'member@example.com', password };
  await post(`${auth}/register`, member);
  const linked = textAt((await exchangeAs(900, {})).json, 'data.record.id');
  const closed = { status: 403, json: { error: is.text, code: 'sign_up_closed' } };
  await admin.patch(settingsPath, { 'auth.sign_up.club': 'closed' });
  for (const [name, signUp] of Object.entries(routes))
    await t.test(`by ${name} [auth §3.2, §3.3]`, async () => {
      await eventually('the collection is closed', async () => (await signUp({})).status === 403);
      assert.equal(at((await signUp({})).json, 'code'), 'sign_up_closed');
    });
  await runScenarios(t, target, [
    {
      name: 'an invalid body, before it is checked',
      request: `POST ${auth}/register`,
      body: { email: 5 },
      expect: closed,
      spec: 'auth §3.2, §3.3',
    },
    {
      name: 'a new account by an admin',
      as: 'admin',
      request: 'POST /api/v1/club',
      body: { email: 'made@example.com', password },
      expect: { status: 201 },
      events: ['club.create'],
      spec: 'auth §3.2, §3.3',
    },
    {
      name: 'a sign-in to an existing account',
      request: `POST ${auth}/login`,
      body: member,
      expect: { status: 200 },
      spec: 'auth §3.2, §3.3',
    },
    {
      name: 'a setting for an unknown collection',
      as: 'admin',
      request: `PATCH ${settingsPath}`,
      body: { 'auth.sign_up.nowhere': 'closed', 'auth.sign_up.club': 'open' },
      expect: refused.invalid('auth.sign_up.nowhere'),
      spec: 'auth §3.2, §3.3',
    },
    {
      name: 'an invalid value',
      as: 'admin',
      request: `PATCH ${settingsPath}`,
      body: { 'auth.sign_up.club': 'shut' },
      expect: refused.invalid('auth.sign_up.club'),
      spec: 'auth §3.2, §3.3',
    },
  ]);
  await t.test('a linked user signs in', async () => {
    const again = await exchangeAs(900, {});
    assert.equal(at(again.json, 'data.record.id'), linked, again.text);
  });
  await t.test("the setting follows the collection's name, and is deleted with it", async () => {
    const id = textAt(collection, 'id');
    const shown = async (name: string) => objectAt((await admin.get(settingsPath)).json, 'data')[name];
    await admin.patch(`/api/v1/collections/${id}`, { name: 'society' });
    assert.equal(await shown('auth.sign_up.society'), 'closed');
    assert.equal(await shown('auth.sign_up.club'), undefined);
    const signUp = () => post('/api/v1/auth/society/register', { email: 'new@example.com', password });
    await eventually('the renamed collection is closed', async () => (await signUp()).status === 403);
    await admin.delete(`/api/v1/collections/${id}`);
    await admin.post('/api/v1/collections', { name: 'society', type: 'auth' });
    assert.equal(await shown('auth.sign_up.society'), undefined);
    await eventually('a new collection of that name is open', async () => (await signUp()).status === 201);
  });
});
