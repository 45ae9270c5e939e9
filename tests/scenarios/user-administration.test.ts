import assert from 'node:assert/strict';
import { createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at, listAt, objectAt, textAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { totpCode } from '../harness/sign-in/totp.ts';
import { runScenarios } from '../harness/stacks/scenario.ts';
import { onEachTopology, type Target } from '../harness/stacks/target.ts';
import { auth, clientOf, createUsers, password, signUp } from './users.ts';

/** An auth collection with a user, for admins' requests. */
async function prepare(target: Target, email: string) {
  const users = await createUsers(target);
  const session = await signUp(target, users, email);
  const id = textAt(session, 'record.id');
  const base = `/api/v1/admin/users/${users}`;
  const admin = await target.admin();
  const login = (with_ = password) =>
    target.guest.send('POST', `${auth}/${users}/login`, { body: { email, password: with_ } });
  const audited = async (action: string) =>
    listAt((await admin.get(`/api/v1/admin/audit?action=${action}&perPage=1000`)).json, 'data').filter(
      ({ target_id }) => target_id === id,
    ).length;
  return { users, session, id, base, one: `${base}/${id}`, admin, login, audited };
}

onEachTopology('admins look at users and end their sessions', async (t, target) => {
  const { users, session, id, base, one, admin, login, audited } = await prepare(target, 'Ann@example.com');
  await signUp(target, users, 'bob@example.com');
  const spec = 'admins §8.1';
  const account = {
    id,
    email: 'Ann@example.com',
    verified: false,
    anonymous: false,
    second_factor: false,
    blocked_at: null,
    created_at: is.now,
    last_used_at: is.now,
  };
  const page = { page: 1, perPage: 30, totalItems: 1, totalPages: 1 };
  const none = { data: [], ...page, totalItems: 0, totalPages: 0 };
  const list = (query: string, json: unknown, as: 'admin' | 'user' | 'guest' = 'admin') => ({
    name: `a list ${query}`,
    as,
    request: `GET ${base}${query}`,
    spec,
    expect: { status: 200, json },
  });
  await runScenarios(t, target, [
    { name: 'a guest', request: `GET ${base}`, spec: 'admins §8', expect: refused.unauthenticated },
    { name: 'a user', as: 'user', request: `GET ${one}`, spec: 'admins §8', expect: refused.forbidden },
    {
      name: 'another type of collection',
      as: 'admin',
      request: 'GET /api/v1/admin/users/nowhere',
      spec: 'admins §8',
      expect: refused.notFound,
    },
    {
      name: 'an unknown user',
      as: 'admin',
      request: `GET ${base}/nobody`,
      spec: 'admins §8',
      expect: refused.notFound,
    },
    {
      name: 'a user with NUL',
      as: 'admin',
      request: `POST ${base}/%00/block`,
      spec: 'admins §8',
      expect: refused.notFound,
    },
    list('?search=ANN@', { data: [account], ...page }),
    list(`?search=${id}`, { data: [account], ...page }),
    list('?search=%25', none),
    list(`?search=${id.slice(1)}`, none),
    list('?blocked=1', none),
    {
      name: 'NUL in the search',
      as: 'admin',
      request: `GET ${base}?search=%00`,
      spec,
      expect: refused.malformedWith({ search: is.text }),
    },
    {
      name: 'one user',
      as: 'admin',
      request: `GET ${one}`,
      spec: 'admins §8.2',
      expect: {
        status: 200,
        json: {
          data: {
            ...account,
            has_password: true,
            recovery_codes: 0,
            links: [],
            passkeys: [],
            sessions: [is.containing({ id: is.uuidV7, created_at: is.now })],
          },
        },
      },
    },
    {
      name: 'an unknown session',
      as: 'admin',
      request: `DELETE ${one}/sessions/${id}`,
      spec: 'admins §8.3',
      expect: refused.notFound,
    },
    {
      name: 'a second factor that is not there',
      as: 'admin',
      request: `DELETE ${one}/second-factor`,
      spec: 'admins §8.3',
      expect: { status: 422, json: is.containing({ code: 'totp_not_enabled' }) },
    },
    {
      name: 'a link that is not there',
      as: 'admin',
      request: `DELETE ${one}/links/github`,
      spec: 'admins §8.3',
      expect: refused.notFound,
    },
    {
      name: 'a link to a provider without an issuer',
      as: 'admin',
      request: `PUT ${one}/links/oidc`,
      body: { subject: '7' },
      spec: 'admins §8.3',
      expect: { status: 422, json: is.containing({ details: { provider: 'has no issuer in the settings' } }) },
    },
    {
      name: 'a link to an unknown provider',
      as: 'admin',
      request: `PUT ${one}/links/nobody`,
      body: { subject: '7' },
      spec: 'admins §8.3',
      expect: { status: 422, json: is.containing({ details: { provider: 'has no issuer in the settings' } }) },
    },
    {
      name: 'a link without a subject',
      as: 'admin',
      request: `PUT ${one}/links/github`,
      body: { subject: '' },
      spec: 'admins §8.3',
      expect: { status: 422, json: is.containing({ code: 'validation_failed' }) },
    },
    {
      name: 'a link by a user',
      as: 'guest',
      request: `PUT ${one}/links/github`,
      body: { subject: '7' },
      spec: 'admins §8.3',
      expect: { status: 401 },
    },
  ]);

  await t.test('an identity is linked once, and never to two users [admins §8.3]', async () => {
    const others = listAt((await admin.get(base)).json, 'data');
    const bob = String(others.find(({ email }) => email === 'bob@example.com')?.id);
    const link = (path: string) => admin.send('PUT', `${path}/links/github`, { body: { subject: '4711' } });
    for (const status of [200, 200]) {
      const answer = await link(one);
      assert.equal(answer.status, status, answer.text);
      assert.deepEqual(
        listAt(answer.json, 'data.links').map(({ provider }) => provider),
        ['github'],
      );
    }
    assert.equal(at((await link(`${base}/${bob}`)).json, 'code'), 'already_linked');
    assert.equal(await audited('users.oauth_link'), 1);
    const removed = await admin.send('DELETE', `${one}/links/github`);
    assert.deepEqual(listAt(removed.json, 'data.links'), []);
  });

  await t.test("no route takes another user's session [admins §8.3]", async () => {
    const others = listAt((await admin.get(base)).json, 'data');
    const bob = String(others.find(({ email }) => email === 'bob@example.com')?.id);
    const [open] = listAt((await admin.get(`${base}/${bob}`)).json, 'data.sessions');
    assert.equal((await admin.send('DELETE', `${one}/sessions/${open?.id}`)).status, 404);
    assert.equal(listAt((await admin.get(`${base}/${bob}`)).json, 'data.sessions').length, 1);
  });

  await t.test('ended sessions are refused within a second, and the row names the admin [admins §8.3]', async () => {
    const user = clientOf(target, session);
    const [open] = listAt((await admin.get(one)).json, 'data.sessions');
    const { json } = await admin.send('DELETE', `${one}/sessions/${open?.id}`);
    assert.deepEqual([listAt(json, 'data.sessions'), at(json, 'data.last_used_at')], [[], null]);
    await eventually('the token is refused', async () => (await user.get(`${auth}/${users}/sessions`)).status === 401);
    await Promise.all([login(), login()]);
    assert.equal(listAt((await admin.get(one)).json, 'data.sessions').length, 2);
    assert.deepEqual(listAt((await admin.send('DELETE', `${one}/sessions`)).json, 'data.sessions'), []);
    assert.equal(await audited('users.sign_out'), 2);
  });

  await t.test('the second factor is reset, and the user signs in without it [admins §8.3]', async () => {
    const user = createClient(target.url, textAt((await login()).json, 'data.token'));
    const { secret } = await user.post(`${auth}/${users}/totp/setup`, {}, 200);
    await user.post(`${auth}/${users}/totp/confirm`, { code: totpCode(String(secret)) }, 200);
    const shown = objectAt((await admin.get(one)).json, 'data');
    assert.deepEqual([shown.second_factor, shown.recovery_codes], [true, 10]);
    assert.ok(textAt((await login()).json, 'data.mfa_token'));
    const after = objectAt((await admin.send('DELETE', `${one}/second-factor`)).json, 'data');
    assert.deepEqual([after.second_factor, after.recovery_codes], [false, 0]);
    assert.ok(textAt((await login()).json, 'data.token'));
    assert.equal(await audited('users.mfa_disable'), 1);
  });
});

onEachTopology('a blocked user has no way in', async (t, target) => {
  const { users, session, id, base, one, admin, login, audited } = await prepare(target, 'cy@example.com');
  const user = clientOf(target, session);
  const spec = 'admins §8.4';
  const isIn = async () => (await user.get(`${auth}/${users}/sessions`)).status === 200;

  await t.test(`tokens end within a second, and a right password is 403 [${spec}]`, async () => {
    assert.ok(await isIn());
    const blocked = await admin.post(`${one}/block`, undefined, 200);
    assert.equal(typeof blocked.blocked_at, 'number');
    await eventually('the token is refused', async () => !(await isIn()));
    const refusal = await login();
    assert.deepEqual([refusal.status, textAt(refusal.json, 'code')], [403, 'blocked']);
    assert.equal((await login('another long password')).status, 401);
    const refreshed = await user.send('POST', '/api/v1/auth/refresh');
    assert.equal(refreshed.status, 401);
    const acted = await admin.send('POST', `/api/v1/admin/impersonate/${users}/${id}`);
    assert.deepEqual([acted.status, textAt(acted.json, 'code')], [403, 'blocked']);
  });

  await t.test(`a second block changes nothing [${spec}]`, async () => {
    const before = objectAt((await admin.get(one)).json, 'data').blocked_at;
    assert.equal((await admin.post(`${one}/block`, undefined, 200)).blocked_at, before);
    assert.equal(await audited('users.block'), 1);
    const { json } = await admin.get(`${base}?blocked=1`);
    assert.deepEqual(
      listAt(json, 'data').map((row) => row.id),
      [id],
    );
  });

  await t.test(`sign-ins during a block leave no session [${spec}]`, async () => {
    await admin.post(`${one}/unblock`, undefined, 200);
    const [answers] = await Promise.all([
      Promise.all(Array.from({ length: 8 }, () => login())),
      admin.post(`${one}/block`, undefined, 200),
    ]);
    for (const { status } of answers) assert.ok([200, 401, 403].includes(status), String(status));
    assert.deepEqual(listAt((await admin.get(one)).json, 'data.sessions'), []);
  });

  await t.test(`an unblocked user signs in, and the old token stays refused [${spec}]`, async () => {
    await admin.post(`${one}/unblock`, undefined, 200);
    await admin.post(`${one}/unblock`, undefined, 200);
    assert.equal((await login()).status, 200);
    assert.ok(!(await isIn()));
    assert.equal(await audited('users.unblock'), 2);
  });

  await t.test(`a deleted user who is created again with the id is still blocked [${spec}]`, async () => {
    await admin.post(`${one}/block`, undefined, 200);
    await admin.delete(`/api/v1/records/${users}/${id}`);
    assert.equal((await admin.get(one)).status, 404);
    const again = { email: 'cy@example.com', password };
    assert.equal((await admin.send('PUT', `/api/v1/records/${users}/${id}`, { body: again })).status, 201);
    assert.equal((await login()).status, 403);
  });
});
