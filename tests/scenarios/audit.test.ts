import assert from 'node:assert/strict';
import { createClient } from '../harness/clients/client.ts';
import { listAt, textAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { totpCode } from '../harness/sign-in/totp.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

const secret = 'correct horse battery staple two';

onEachTopology('every change by an admin is audited', async (t, target) => {
  // A new admin has no rows in the log.
  const credentials = { email: 'mary@example.com', password: secret };
  const { id: me } = await (await target.admin()).post('/api/v1/admin/admins', credentials);
  const session = await target.guest.post('/api/v1/admin/login', credentials, 200);
  const admin = createClient(target.url, textAt(session, 'token'));
  const headers = { 'User-Agent': 'scenario/1' };
  const post = async (path: string, body: unknown) =>
    textAt((await admin.send('POST', path, { body, headers })).json, 'data.id');
  const act = async (method: string, path: string, body?: unknown) => {
    const answer = await admin.send(method, path, { headers, ...(body !== undefined && { body }) });
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
  };
  const collection = await post('/api/v1/collections', { name: 'audited', type: 'base', fields: [] });
  await act('PATCH', '/api/v1/collections/audited', { list_rule: '' });
  await act('POST', '/api/v1/admin/collections/audited/indexes', { name: 'by_time', columns: ['updated_at'] });
  await act('DELETE', '/api/v1/admin/collections/audited/indexes/by_time');
  await act('DELETE', '/api/v1/collections/audited');
  const other = await post('/api/v1/admin/admins', { email: 'eve@example.com', password: secret });
  await act('PATCH', `/api/v1/admin/admins/${other}`, { password: `${secret} more` });
  await act('DELETE', `/api/v1/admin/admins/${other}`);
  await act('PATCH', '/api/v1/admin/settings', { 'smtp.pass': secret });
  const webhook = await post('/api/v1/admin/webhooks', {
    name: 'hook',
    url: 'https://hooks.example/in',
    events: ['nothing.*'],
    headers: { 'X-Key': secret },
    enabled: false,
  });
  await act('PATCH', `/api/v1/admin/webhooks/${webhook}`, { name: 'hook2' });
  await act('POST', `/api/v1/admin/webhooks/${webhook}/regenerate-secret`, {});
  await act('POST', `/api/v1/admin/webhooks/${webhook}/replay`, { since: 0 });
  await act('DELETE', `/api/v1/admin/webhooks/${webhook}`);
  // A refused change is not audited.
  await admin.send('POST', '/api/v1/collections', { body: { name: 'v1' }, headers });

  const row = (action: string, targetType: string | null, targetId: string | null, details: object) => ({
    id: is.uuid,
    at: is.now,
    action,
    actor_type: 'admin',
    actor_id: me,
    impersonated_by: null,
    target_type: targetType,
    target_id: targetId,
    ip: is.text,
    user_agent: 'scenario/1',
    details,
  });
  const index = { collection: 'audited', index: 'by_time' };
  const expected = [
    row('collections.create', 'collection', collection, { name: 'audited', type: 'base' }),
    row('collections.update', 'collection', collection, { name: 'audited', changed: ['list_rule'] }),
    row('indexes.create', 'collection', collection, index),
    row('indexes.delete', 'collection', collection, index),
    row('collections.delete', 'collection', collection, { name: 'audited' }),
    row('admins.create', 'admin', other, { email: 'eve@example.com' }),
    row('admins.update', 'admin', other, { changed: ['password'] }),
    row('admins.delete', 'admin', other, {}),
    row('settings.update', null, null, { keys: ['smtp.pass'] }),
    row('webhooks.create', 'webhook', webhook, { name: 'hook', url: 'https://hooks.example/in' }),
    row('webhooks.update', 'webhook', webhook, { changed: ['name'] }),
    row('webhooks.regenerate-secret', 'webhook', webhook, {}),
    row('webhooks.replay', 'webhook', webhook, { since: 0, count: 0 }),
    row('webhooks.delete', 'webhook', webhook, {}),
  ].reverse();
  const list = (query: string): Pick<Scenario, 'as' | 'request'> => ({
    as: 'admin',
    request: `GET /api/v1/admin/audit${query}`,
  });
  await runScenarios(t, target, [
    {
      name: 'rows with the newest first',
      ...list(`?perPage=${expected.length}`),
      expect: { status: 200, json: is.containing({ data: expected, page: 1, perPage: expected.length }) },
      spec: 'admins §6.1',
    },
    {
      name: 'a page of rows',
      ...list('?perPage=1&page=2'),
      expect: { status: 200, json: is.containing({ data: [expected[1]], page: 2, perPage: 1 }) },
      spec: 'admins §6.1',
    },
    {
      name: 'rows of an action',
      ...list('?action=admins.delete&perPage=1'),
      expect: { status: 200, json: is.containing({ data: [row('admins.delete', 'admin', other, {})] }) },
      spec: 'admins §6.1',
    },
    {
      name: 'rows of an actor',
      ...list(`?actor_id=${me}`),
      expect: {
        status: 200,
        json: { data: expected, page: 1, perPage: 30, totalItems: expected.length, totalPages: 1 },
      },
      spec: 'admins §6.1',
    },
    {
      name: 'rows of an actor and an action',
      ...list(`?actor_id=${me}&action=admins.delete`),
      expect: {
        status: 200,
        json: { data: [row('admins.delete', 'admin', other, {})], page: 1, perPage: 30, totalItems: 1, totalPages: 1 },
      },
      spec: 'admins §6.1',
    },
    ...[
      { name: 'rows of an area', query: `?actor_id=${me}&action=webhooks.*`, rows: expected.slice(0, 5) },
      { name: 'rows of a target', query: `?target_id=${webhook}`, rows: expected.slice(0, 5) },
      { name: 'rows up to a second', query: `?actor_id=${me}&until=1000`, rows: [] },
      { name: 'rows from a second on', query: `?actor_id=${me}&since=9000000000`, rows: [] },
    ].map(({ name, query, rows }) => ({
      name,
      ...list(query),
      expect: { status: 200, json: is.containing({ data: rows, totalItems: rows.length }) },
      spec: 'admins §6.1',
    })),
    {
      name: 'rows of an unknown actor',
      ...list('?actor_id=nobody'),
      expect: { status: 200, json: { data: [], page: 1, perPage: 30, totalItems: 0, totalPages: 0 } },
      spec: 'admins §6.1',
    },
    {
      name: 'a page that is not a number',
      ...list('?page=x'),
      expect: refused.malformedWith({ page: is.text }),
      spec: 'http §3.3',
    },
    {
      name: 'a user',
      as: 'user',
      request: 'GET /api/v1/admin/audit',
      expect: refused.forbidden,
      spec: 'http §6.3',
    },
    { name: 'a guest', request: 'GET /api/v1/admin/audit', expect: refused.unauthenticated, spec: 'http §6.2' },
  ]);
  await t.test('rows have no secrets [admins §6.2]', async () => {
    const answer = await admin.get('/api/v1/admin/audit?perPage=1000');
    assert.ok(listAt(answer.json, 'data').length >= expected.length);
    assert.ok(!answer.text.includes(secret));
    assert.ok(!answer.text.includes('whsec_'));
  });
});

onEachTopology('credential changes are audited with their actor', async (t, target) => {
  const admin = await target.admin();
  const me = textAt((await admin.get('/api/v1/admin/me')).json, 'data.id');
  const collection = 'accounts';
  const path = `/api/v1/auth/${collection}`;
  await admin.post('/api/v1/collections', { name: collection, type: 'auth', fields: [], history_enabled: true });
  const session = await target.guest.post(`${path}/register`, { email: 'ann@example.com', password: secret });
  const id = textAt(session, 'record.id');
  const record = `/api/v1/${collection}/${id}`;
  const rowsAfter = async (work: () => Promise<unknown>): Promise<[unknown, unknown, unknown][]> => {
    const before = await rows();
    await work();
    const known = new Set(before.map((row) => row.id));
    return (await rows())
      .filter((row) => !known.has(row.id))
      .map(({ action, actor_type, actor_id }): [unknown, unknown, unknown] => [action, actor_type, actor_id])
      .reverse();
  };
  async function rows() {
    const { json } = await admin.get('/api/v1/admin/audit?perPage=1000');
    return listAt(json, 'data').filter(({ target_id }) => target_id === id);
  }
  let user = createClient(target.url, textAt(session, 'token'));
  const logIn = async (password: string) => {
    const answer = await target.guest.post(`${path}/login`, { email: 'ann@example.com', password }, 200);
    user = createClient(target.url, textAt(answer, 'token'));
  };
  const next = `${secret} next`;

  await t.test("an admin's changes to a user [admins §6.4]", async () => {
    const written = await rowsAfter(async () => {
      await admin.patch(record, { verified: true });
      await admin.patch(record, { verified: true, email: 'ANN@example.com' });
      await admin.patch(record, { email: 'anna@example.com', password: next });
      await admin.patch(record, { email: 'ann@example.com' });
    });
    assert.deepEqual(written.map(([action]) => action).sort(), [
      'users.email_change',
      'users.email_change',
      'users.password_change',
      'users.verify',
    ]);
    for (const [, type, actor] of written) assert.deepEqual([type, actor], ['admin', me]);
  });

  await t.test('changes by the user', async () => {
    await logIn(next);
    const written = await rowsAfter(async () => {
      await user.patch(record, { password: secret, old_password: next });
      await logIn(secret);
      await user.send('PATCH', record, { body: { password: next, old_password: 'wrong' } });
      const fresh = await user.post(`${path}/change-password`, { old_password: secret, password: next }, 200);
      user = createClient(target.url, textAt(fresh, 'token'));
      const { json } = await user.send('POST', `${path}/totp/setup`);
      const appSecret = textAt(json, 'secret');
      await user.post(`${path}/totp/confirm`, { code: totpCode(appSecret) }, 200);
      await user.post(`${path}/totp/recovery/regenerate`, undefined, 200);
      await user.post(`${path}/totp/disable`, { code: totpCode(appSecret, 1), old_password: next }, 200);
    });
    const actions = ['password_change', 'password_change', 'mfa_enable', 'mfa_recovery_codes', 'mfa_disable'];
    assert.deepEqual(
      written,
      actions.map((action) => [`users.${action}`, 'user', id]),
    );
  });

  await t.test('an admin who restores a version with another address', async () => {
    const versions = listAt((await admin.get(`${record}/history`)).json, 'data.data');
    const version = versions.find(({ snapshot }) => textAt(snapshot, 'email') === 'anna@example.com')?.version;
    const written = await rowsAfter(async () => {
      await admin.patch(record, { verified: false });
      await admin.post(`${record}/restore?version=${version}`, undefined, 200);
      await admin.post(`${record}/restore?version=${version}`, undefined, 200);
    });
    assert.deepEqual(written.map(([action]) => action).sort(), ['users.email_change', 'users.verify']);
    for (const [, type, actor] of written) assert.deepEqual([type, actor], ['admin', me]);
  });

  await t.test("the first admin's set-up, and an admin who ends sessions", async () => {
    const { json } = await admin.get('/api/v1/admin/audit?action=admins.create&perPage=1000');
    const first = listAt(json, 'data').at(-1);
    assert.deepEqual([first?.target_id, first?.actor_type], [me, 'guest']);
    await admin.delete('/api/v1/admin/sessions');
    const { json: ended } = await admin.get('/api/v1/admin/audit?action=admins.sign_out');
    assert.equal(textAt(ended, 'data.0.actor_id'), me);
  });
});
