import assert from 'node:assert/strict';
import { openBusReader } from '../harness/clients/bus-reader.ts';
import { createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at, listAt, objectAt, textAt } from '../harness/json.ts';
import { followedEverywhere } from '../harness/stacks/followed-settings.ts';
import { onEachTopology, onNewStacks } from '../harness/stacks/target.ts';
import { makeKey, type TestKey } from './service-keys.ts';

onNewStacks('the tests set rate rules');

const path = '/api/v1/admin/keys';
const inAnHour = () => Math.floor(Date.now() / 1000) + 3600;

onEachTopology('no key makes a key beyond itself', async (t, target) => {
  const admin = followedEverywhere(await target.admin());
  const body = (more: object) => ({ name: 'made', scopes: ['files'], ...more });
  const beyond = (answer: { status: number; text: string }) => {
    assert.equal(answer.status, 403, answer.text);
    assert.match(answer.text, /"code":"scope_exceeded"/);
  };

  await t.test('without the scope admin it creates no keys [keys §1.5]', async () => {
    const others = [
      'records:*:write',
      'rules:*',
      'collections:apply',
      'settings:write',
      'users:impersonate',
      'logs:read',
    ];
    const key = await makeKey(target, others);
    for (const [method, url] of [
      ['POST', path],
      ['GET', path],
      ['GET', `${path}/${key.id}`],
      ['PATCH', `${path}/${key.id}`],
      ['DELETE', `${path}/${key.id}`],
    ] as const)
      assert.equal((await key.send(method, url, { body: body({}) })).status, 403);
  });

  await t.test('it creates no key that expires later [keys §1.5]', async () => {
    const expires_at = inAnHour();
    const key = await makeKey(target, ['admin'], { expires_at });
    beyond(await key.send('POST', path, { body: body({}) }));
    beyond(await key.send('POST', path, { body: body({ expires_at: expires_at + 1 }) }));
    const made = await makeKey(target, ['admin'], { expires_at }, key);
    beyond(await key.send('PATCH', `${path}/${made.id}`, { body: { expires_at: null } }));
    beyond(await key.send('PATCH', `${path}/${key.id}`, { body: { expires_at: null } }));
    assert.equal((await key.send('PATCH', `${path}/${key.id}`, { body: { name: 'renamed' } })).status, 200);
    const endless = await makeKey(target, ['files']);
    beyond(await key.send('PATCH', `${path}/${endless.id}`, { body: { scopes: ['admin'] } }));
  });

  await t.test('it creates no key for other networks [keys §1.5]', async () => {
    const key = await makeKey(target, ['admin'], { allowed_cidrs: ['127.0.0.0/8', '::1'] });
    for (const allowed_cidrs of [undefined, [], ['0.0.0.0/0'], ['127.0.0.0/7'], ['127.0.0.1', '10.0.0.1'], ['::/0']])
      beyond(await key.send('POST', path, { body: body({ allowed_cidrs }) }));
    for (const allowed_cidrs of [['127.0.0.1'], ['127.9.0.0/16', '::1/128'], ['127.0.0.0/8']])
      assert.equal((await key.send('POST', path, { body: body({ allowed_cidrs }) })).status, 201);
    beyond(await key.send('PATCH', `${path}/${key.id}`, { body: { allowed_cidrs: [] } }));
  });

  await t.test('with an end or networks it makes no admin, and changes none [keys §1.5]', async () => {
    const password = 'correct horse battery';
    const made = await admin.post('/api/v1/admin/admins', { email: 'victim@example.com', password });
    const url = `/api/v1/admin/admins/${textAt(made, 'id')}`;
    for (const bound of [{ expires_at: inAnHour() }, { allowed_cidrs: ['127.0.0.0/8', '::1'] }]) {
      const key = await makeKey(target, ['admin'], bound);
      beyond(await key.send('POST', '/api/v1/admin/admins', { body: { email: 'heir@example.com', password } }));
      beyond(await key.send('PATCH', url, { body: { password: `${password}!` } }));
      beyond(await key.send('PATCH', url, { body: { email: 'heir@example.com' } }));
    }
    const login = { email: 'victim@example.com', password };
    assert.equal((await target.guest.send('POST', '/api/v1/admin/login', { body: login })).status, 200);
    const free = await makeKey(target, ['admin']);
    assert.equal((await free.send('PATCH', url, { body: { password: `${password}!` } })).status, 200);
    await admin.delete(url);
  });

  await t.test('new keys name the key that created them [keys §1.3]', async () => {
    const key = await makeKey(target, ['admin']);
    const made = await makeKey(target, ['files'], {}, key);
    const shown = objectAt((await admin.get(`${path}/${made.id}`)).json, 'data');
    assert.deepEqual(shown.created_by, { type: 'service', id: key.id });
  });
});

onEachTopology('a key is a caller with the type service', async (t, target) => {
  const admin = followedEverywhere(await target.admin());
  await admin.post('/api/v1/collections', {
    name: 'acted_on',
    type: 'base',
    history_enabled: true,
    fields: [{ name: 'word', type: 'text' }],
  });
  await admin.post('/api/v1/collections', {
    name: 'persons',
    type: 'auth',
    fields: [{ name: 'nick', type: 'text' }],
  });
  const key = await makeKey(target, ['records:acted_on:write', 'records:persons:write', 'logs:read']);

  await t.test('in events and history [keys §2.2]', async () => {
    await using bus =
      target.natsUrl === undefined ? undefined : await openBusReader(target.natsUrl, { isFromNow: true });
    const { id } = await key.create('acted_on', { word: 'a' });
    const [row] = listAt((await key.get(`/api/v1/acted_on/${id}/history`)).json, 'data.data');
    assert.deepEqual([row?.actor_type, row?.actor_id], ['service', key.id]);
    if (!bus) return;
    await eventually('the event is published', () =>
      bus.events.some(({ subject }) => subject === 'events.acted_on.create'),
    );
    const event = bus.events.find(({ subject }) => subject === 'events.acted_on.create');
    assert.deepEqual(event?.body.actor, { type: 'service', id: key.id });
  });

  await t.test('in the request log and the audit log [keys §2.2]', async () => {
    await eventually('the request has a row', async () => {
      const answer = await key.get(`/api/v1/admin/logs?principal_type=service&principal_id=${key.id}`);
      assert.equal(answer.status, 200, answer.text);
      return listAt(answer.json, 'data').length > 0;
    });
    const maker = await makeKey(target, ['collections:apply']);
    await maker.post('/api/v1/collections', { name: 'made_by_key', type: 'base', fields: [] });
    const rows = listAt((await key.get(`/api/v1/admin/audit?actor_id=${maker.id}`)).json, 'data');
    assert.deepEqual([rows[0]?.action, rows[0]?.actor_type], ['collections.create', 'service']);
  });

  await t.test('its last use is shown [keys §1.3]', async () => {
    await eventually(
      'the last use is written',
      async () => objectAt((await admin.get(`${path}/${key.id}`)).json, 'data').last_used_ip !== null,
    );
  });

  await t.test('it writes accounts like an admin [keys §5.1]', async () => {
    await admin.patch('/api/v1/admin/settings', { 'auth.sign_up.persons': 'closed' });
    const password = 'a long and winding password';
    const account = await key.create('persons', { email: 'ada@example.com', password, verified: true, nick: 'a' });
    assert.equal(account.verified, true);
    await key.patch(`/api/v1/persons/${account.id}`, { password: `${password} 2` });
    const signedIn = await target.guest.send('POST', '/api/v1/auth/persons/login', {
      body: { email: 'ada@example.com', password: `${password} 2` },
    });
    assert.equal(signedIn.status, 200, signedIn.text);
    const put = await key.send('PUT', '/api/v1/persons/chosen', { body: { email: 'bob@example.com', password } });
    assert.equal(put.status, 201, put.text);
  });

  await t.test('it acts as a user, until it is revoked [keys §3.1]', async () => {
    const [person] = listAt((await key.get('/api/v1/persons')).json, 'data');
    const actor = await makeKey(target, ['users:impersonate'], { expires_at: inAnHour() });
    const begun = await actor.post(`/api/v1/admin/impersonate/persons/${person?.id}`, undefined, 200);
    assert.equal(begun.impersonated_by, actor.id);
    const user = createClient(target.url, textAt(begun, 'token'));
    const isSignedIn = async () => (await user.get('/api/v1/auth/persons/sessions')).status === 200;
    assert.ok(await isSignedIn());
    assert.equal((await key.send('POST', `/api/v1/admin/impersonate/persons/${person?.id}`)).status, 403);
    await admin.delete(`${path}/${actor.id}`);
    await eventually('the session ends with the key', async () => !(await isSignedIn()));
  });

  await t.test('it acts as a user from its networks only [keys §1.5]', async () => {
    const [person] = listAt((await key.get('/api/v1/persons')).json, 'data');
    const actor = await makeKey(target, ['users:impersonate'], { allowed_cidrs: ['127.0.0.0/8', '::1'] });
    const begun = await actor.post(`/api/v1/admin/impersonate/persons/${person?.id}`, undefined, 200);
    const user = createClient(target.url, textAt(begun, 'token'));
    const statusOf = async () => (await user.get('/api/v1/auth/persons/sessions')).status;
    assert.equal(await statusOf(), 200);
    await admin.patch(`${path}/${actor.id}`, { allowed_cidrs: ['192.0.2.0/24'] });
    await eventually('the token is refused from here', async () => (await statusOf()) === 401);
  });

  await t.test('with networks it cannot trust proxies [keys §1.5]', async () => {
    const bound = await makeKey(target, ['settings:write', 'collections:apply'], {
      allowed_cidrs: ['127.0.0.0/8', '::1'],
    });
    const settings = '/api/v1/admin/settings';
    const refused = await bound.send('PATCH', settings, { body: { 'security.trusted_proxies': '192.0.2.1' } });
    assert.deepEqual([refused.status, at(refused.json, 'code')], [403, 'scope_exceeded']);
    const other = await bound.send('PATCH', settings, { body: { 'password.require_upper': '0' } });
    assert.equal(other.status, 200, other.text);
  });

  await t.test('it reads the metrics with its scope alone [keys §3.1]', async () => {
    await admin.patch('/api/v1/admin/settings', { 'metrics.enabled': '1', 'metrics.token': 'a-token-of-its-own' });
    const scraper = await makeKey(target, ['metrics:read']);
    assert.equal((await scraper.get('/api/v1/metrics')).status, 200);
    assert.equal((await key.get('/api/v1/metrics')).status, 403);
    assert.equal((await target.guest.get('/api/v1/metrics')).status, 401);
  });

  await t.test('it imports where it may write, and sees only such jobs [keys §5.7]', async () => {
    const send = (by: typeof admin, collection: string, query = '') =>
      by.send('POST', `/api/v1/records/${collection}/import?format=ndjson${query}`, {
        rawBody: '{"word":"imported"}\n',
        headers: { 'Content-Type': 'application/x-ndjson' },
      });
    const started = await send(key, 'acted_on');
    assert.equal(started.status, 202, started.text);
    const id = textAt(started.json, 'data.id');
    await eventually(
      'it is done',
      async () => textAt((await key.get(`/api/v1/jobs/${id}`)).json, 'data.state') === 'done',
    );
    const word = encodeURIComponent('word = "imported"');
    const [record] = listAt((await key.get(`/api/v1/acted_on?filter=${word}`)).json, 'data');
    const [row] = listAt((await key.get(`/api/v1/acted_on/${record?.id}/history`)).json, 'data.data');
    assert.deepEqual([row?.actor_type, row?.actor_id], ['service', key.id]);
    assert.equal((await send(key, 'acted_on', '&events=none')).status, 403);
    const stranger = await makeKey(target, ['records:persons:write', 'records:acted_on:read']);
    assert.equal((await stranger.get(`/api/v1/jobs/${id}`)).status, 404);
    assert.equal((await stranger.get(`/api/v1/jobs/${id}/refused`)).status, 404);
    assert.equal((await stranger.send('POST', `/api/v1/jobs/${id}/cancel`)).status, 404);
    assert.deepEqual(listAt((await stranger.get('/api/v1/jobs')).json, 'data'), []);
    assert.equal((await send(stranger, 'acted_on')).status, 403);
    const copied = await stranger.send('POST', `/api/v1/records/persons/import?format=ndjson&upload=${id}`);
    assert.equal(copied.status, 422, copied.text);
  });

  await t.test("its label's rules apply only to it [keys §6]", async () => {
    const slow = await makeKey(target, ['records:acted_on:read'], { rate_label: 'slow' });
    const same = await makeKey(target, ['records:acted_on:read']);
    const rules = [
      { label: '#slow', max: 3, windowMs: 60_000 },
      { label: '/api/*', max: 100_000, windowMs: 60_000 },
    ];
    await admin.patch('/api/v1/admin/settings', {
      'rate_limit.enabled': '1',
      'rate_limit.rules': JSON.stringify(rules),
    });
    await eventually('the rule counts', async () => {
      const { headers } = await slow.get('/api/v1/acted_on');
      return headers['ratelimit-limit'] === '3';
    });
    await eventually('the limit is reached', async () => (await slow.get('/api/v1/acted_on')).status === 429);
    for (const client of [same, admin])
      assert.equal((await client.get('/api/v1/acted_on')).headers['ratelimit-limit'], '100000');
  });

  await t.test('a short-lived key may pass all rules, with its batches [keys §6]', async () => {
    const scopes = ['records:acted_on:write', 'records:acted_on:read'];
    const free = await makeKey(target, scopes, {
      rate_limited: false,
      expires_at: Math.floor(Date.now() / 1000) + 600,
    });
    const counted = await makeKey(target, scopes);
    const rules = [{ label: '*', max: 4, windowMs: 60_000, audience: 'auth' }];
    await admin.patch('/api/v1/admin/settings', { 'rate_limit.rules': JSON.stringify(rules) });
    const list = '/api/v1/acted_on';
    await eventually('the rule counts', async () => (await counted.get(list)).headers['ratelimit-limit'] === '4');
    const operations = Array.from({ length: 5 }, () => ({ op: 'create', collection: 'acted_on', data: {} }));
    const batch = (client: TestKey) => client.send('POST', '/api/v1/batch', { body: { operations } });
    for (let n = 0; n < 6; n += 1) {
      const { status, headers } = await free.get(list);
      assert.deepEqual([status, headers['ratelimit-limit']], [200, undefined]);
    }
    assert.equal((await batch(free)).status, 200);
    assert.equal((await batch(counted)).status, 429);
  });
});
