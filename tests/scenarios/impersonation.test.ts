import assert from 'node:assert/strict';
import { decodeJwt } from 'jose';
import { type Client, createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { listAt, textAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { logLines } from '../harness/processes/logs.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios } from '../harness/stacks/scenario.ts';
import { onEachTopology, type Target } from '../harness/stacks/target.ts';

const password = 'a long and winding password';
const users = '/api/v1/auth/acted';
const hourSec = 3600;

/** Creates a user, and the test's own admin, who may be changed and deleted. */
async function prepare(target: Target, name: string) {
  const first = await target.admin();
  await first.send('POST', '/api/v1/collections', {
    body: { name: 'acted', type: 'auth', fields: [{ name: 'nick', type: 'text' }] },
  });
  const session = await target.guest.post(`${users}/register`, { email: `${name}@example.com`, password });
  const credentials = { email: `root.${name}@example.com`, password };
  const { id: adminId } = await first.post('/api/v1/admin/admins', credentials);
  const signedIn = await target.guest.post('/api/v1/admin/login', credentials, 200);
  const admin = createClient(target.url, textAt(signedIn, 'token'));
  const userId = textAt(session, 'record.id');
  const impersonate = async (): Promise<{ token: string; client: Client }> => {
    const { token } = await admin.post(`/api/v1/admin/impersonate/acted/${userId}`, undefined, 200);
    return { token: String(token), client: createClient(target.url, String(token)) };
  };
  const user = createClient(target.url, textAt(session, 'token'));
  return { first, admin, adminId: String(adminId), user, userId, impersonate };
}

const isSignedIn = async (client: Client): Promise<boolean> => (await client.get(`${users}/sessions`)).status === 200;

const hasEnded = (client: Client) => eventually('the token has ended', async () => !(await isSignedIn(client)));

onEachTopology('an admin impersonates a user', async (t, target) => {
  const { admin, adminId, user, userId, impersonate } = await prepare(target, 'ann');
  const path = `/api/v1/admin/impersonate/acted/${userId}`;
  const spec = 'admins §5.1';
  await runScenarios(t, target, [
    { name: 'a guest', request: `POST ${path}`, expect: refused.unauthenticated, spec },
    { name: 'a user', as: 'user', request: `POST ${path}`, expect: refused.forbidden, spec },
    {
      name: 'an unknown user',
      as: 'admin',
      request: 'POST /api/v1/admin/impersonate/acted/01980000-0000-7000-8000-000000000009',
      expect: refused.notFound,
      spec,
    },
    {
      name: 'an unknown collection',
      as: 'admin',
      request: `POST /api/v1/admin/impersonate/nowhere/${userId}`,
      expect: refused.notFound,
      spec,
    },
    {
      name: 'the token and the admin behind it',
      as: 'admin',
      request: `POST ${path}`,
      expect: { status: 200, json: { data: { token: is.text, impersonated_by: is.uuid } } },
      spec,
    },
  ]);

  const { token, client } = await impersonate();
  const claims = decodeJwt(token);

  await t.test('the token is for the user, lasts an hour and names the admin [admins §5.1, §5.2]', () => {
    assert.deepEqual(
      { ...claims, iat: 0, exp: 0, jti: '', sid: '', tv: 0 },
      {
        aud: 'user',
        id: userId,
        email: 'ann@example.com',
        collection: 'acted',
        impersonated_by: adminId,
        iat: 0,
        exp: 0,
        jti: '',
        sid: '',
        tv: 0,
      },
    );
    assert.equal(Number(claims.exp) - Number(claims.iat), hourSec);
  });

  await t.test('each log line for a request with the token names the admin [admins §5.4]', async () => {
    const requestId = `acted-${target.url}`;
    const answer = await client.send('PATCH', `/api/v1/acted/${userId}`, {
      body: { nick: 'annie' },
      headers: { 'X-Request-Id': requestId },
    });
    assert.equal(answer.status, 200);
    const line = await eventually('the request is logged', () =>
      logLines(target.logLines).find(({ request_id, msg }) => request_id === requestId && msg === 'request'),
    );
    assert.deepEqual(
      [line.level, line.auth_impersonated_by, line.principal_type, line.principal_id],
      ['info', adminId, 'user', userId],
    );
  });

  await t.test('a refreshed token keeps the user, the admin and the expiry [auth §9.2]', async () => {
    const refreshed = decodeJwt(textAt(await client.post('/api/v1/auth/refresh', {}, 200), 'token'));
    assert.deepEqual([refreshed.impersonated_by, refreshed.exp], [adminId, claims.exp]);
  });

  await t.test('the admin cannot change how the account signs in', async () => {
    const attempts: [string, string, object?][] = [
      ['POST', `${users}/change-password`, { old_password: password, password: `${password} two` }],
      ['POST', `${users}/request-email-change`, { email: 'mine@example.com' }],
      ['POST', `${users}/totp/setup`],
      ['POST', `${users}/totp/confirm`, { code: '123456' }],
      ['POST', `${users}/totp/disable`, { code: '123456' }],
      ['POST', `${users}/totp/recovery/regenerate`],
      ['POST', `${users}/promote`, { email: 'mine@example.com', password }],
      ['DELETE', `${users}/sessions`],
      ['DELETE', `${users}/sessions/01980000-0000-7000-8000-000000000009`],
      ['PATCH', `/api/v1/acted/${userId}`, { password: `${password} two`, old_password: password }],
      ['PATCH', `/api/v1/acted/${userId}`, { email: 'mine@example.com' }],
    ];
    for (const [method, route, body] of attempts) {
      const { status, text } = await client.send(method, route, body && { body });
      assert.equal(status, 403, `${method} ${route}: ${text}`);
    }
    const unchanged = { email: 'ann@example.com', nick: 'ann' };
    assert.equal((await client.send('PATCH', `/api/v1/acted/${userId}`, { body: unchanged })).status, 200);
  });

  await t.test("the impersonation is not among the user's sessions, and ends with them", async () => {
    const sessions = listAt((await client.get(`${users}/sessions`)).json, 'data');
    assert.deepEqual(
      sessions.map(({ current }) => current),
      [false],
    );
    assert.equal(listAt((await user.get(`${users}/sessions`)).json, 'data').length, 1);
    await user.delete(`${users}/sessions`);
    await hasEnded(client);
    assert.ok(await isSignedIn(user));
  });

  await t.test('the impersonation ends with a new password', async () => {
    const { client: other } = await impersonate();
    await user.post(`${users}/change-password`, { old_password: password, password: `${password} two` }, 200);
    await hasEnded(other);
  });

  await t.test('the token does not open admin routes', async () => {
    const { client: other } = await impersonate();
    for (const closed of ['/api/v1/admin/me', '/api/v1/admin/settings', '/api/v1/admin/audit'])
      assert.equal((await other.get(closed)).status, 403);
    assert.equal((await other.send('POST', path)).status, 403);
  });

  await t.test('impersonation is audited [admins §6.3]', async () => {
    const { json } = await admin.get(`/api/v1/admin/audit?action=users.impersonate&actor_id=${adminId}`);
    const [row, ...others] = listAt(json, 'data');
    assert.deepEqual(
      [row?.target_type, row?.target_id, row?.details, others.length],
      ['user', userId, { collection: 'acted', window_seconds: hourSec }, 2],
    );
  });
});

onEachTopology('an impersonation ends when its admin is removed', async (t, target) => {
  await t.test('when the admin gets a new password', async () => {
    const { first, adminId, impersonate } = await prepare(target, 'bob');
    const { client } = await impersonate();
    await first.patch(`/api/v1/admin/admins/${adminId}`, { password: `${password} two` });
    await hasEnded(client);
  });
  await t.test('when the admin is deleted', async () => {
    const { first, adminId, user, impersonate } = await prepare(target, 'cid');
    const { client } = await impersonate();
    await first.delete(`/api/v1/admin/admins/${adminId}`);
    await hasEnded(client);
    assert.ok(await isSignedIn(user));
  });
});

onEachTopology('impersonation follows the settings', async (t, target) => {
  const { first, userId } = await prepare(target, 'dan');
  const path = `/api/v1/admin/impersonate/acted/${userId}`;
  const windowOf = async (): Promise<number> => {
    const { json } = await first.send('POST', path);
    const { exp, iat } = decodeJwt(textAt(json, 'data.token'));
    return Number(exp) - Number(iat);
  };
  await t.test('impersonation has its own lifetime, and an invalid value means the default [auth §9.1]', async () => {
    for (const [value, seconds] of [
      ['90', 90],
      ['59', hourSec],
    ] as const) {
      await first.patch('/api/v1/admin/settings', { 'auth.impersonate.window_seconds': value });
      await eventually('the lifetime applies', async () => (await windowOf()) === seconds);
    }
  });
  await t.test('impersonation is 422 while it is disabled [auth §1.6]', async () => {
    await first.patch('/api/v1/admin/settings', { 'auth.impersonation.enabled': '0' });
    const { json } = await eventually('impersonation is disabled', async () => {
      const answer = await first.send('POST', path);
      return answer.status === 422 && answer;
    });
    assert.equal(textAt(json, 'code'), 'feature_disabled');
    await first.patch('/api/v1/admin/settings', {
      'auth.impersonation.enabled': '',
      'auth.impersonate.window_seconds': '',
    });
  });
});
