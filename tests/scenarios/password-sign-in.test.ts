import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { SignJWT } from 'jose';
import { type Client, createClient } from '../harness/client.ts';
import { eventually } from '../harness/eventually.ts';
import { listAt, objectAt, textAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/scenario.ts';
import { onEachTopology, type Target } from '../harness/target.ts';
import { mint } from '../harness/tokens.ts';

const password = 'a long and winding password';
const auth = '/api/v1/auth';

/** An auth collection of its own for each test, with two fields. */
async function givenUsers(target: Target, more: object = {}): Promise<string> {
  const name = `users_${randomBytes(4).toString('hex')}`;
  const fields = [
    { name: 'nick', type: 'text', options: { min: 2, max: 10, pattern: '^[a-z]+$' } },
    { name: 'age', type: 'number' },
  ];
  await (await target.admin()).post('/api/v1/collections', { name, type: 'auth', fields, ...more });
  return name;
}

const signUp = (target: Target, users: string, email: string, more: object = {}) =>
  target.guest.post(`${auth}/${users}/register`, { email, password, ...more });

const clientOf = (target: Target, session: unknown): Client => createClient(target.url, textAt(session, 'token'));

const record = (email: string, more: object = {}) => ({
  id: is.uuidV7,
  email,
  verified: false,
  anonymous: false,
  nick: null,
  age: null,
  created: is.now,
  updated: is.now,
  ...more,
});

const session = (email: string, more: object = {}) => ({ data: { token: is.text, record: record(email, more) } });

const invalidCredentials = { status: 401, json: { error: 'invalid credentials', code: 'invalid_credentials' } };

onEachTopology('users register with address and password', async (t, target) => {
  const users = await givenUsers(target);
  const register = (body: unknown): Pick<Scenario, 'request' | 'body' | 'spec'> => ({
    request: `POST ${auth}/${users}/register`,
    body,
    spec: 'auth §3.1',
  });
  const events = [`${users}.create`];
  await runScenarios(t, target, [
    {
      name: 'address, password and fields make a user and a session',
      ...register({ email: 'Ann@Example.com', password, nick: 'ann', age: 30 }),
      expect: { status: 201, json: session('Ann@Example.com', { nick: 'ann', age: 30 }) },
      events,
    },
    {
      name: 'spaces around the address are taken off',
      ...register({ email: ' bob@example.com\n', password }),
      expect: { status: 201, json: session('bob@example.com') },
      events,
    },
    {
      name: 'a taken address, however it is written, is refused',
      ...register({ email: ' aNN@example.COM ', password }),
      expect: refused.invalid('email'),
    },
    {
      name: 'everything that is wrong is named at once',
      ...register({ email: 'nowhere', password: 'short', nick: 'A', colour: 'red' }),
      expect: refused.invalid('email', 'password', 'nick', 'colour'),
    },
    { name: 'what is missing is named', ...register({}), expect: refused.invalid('email', 'password') },
    {
      name: 'a password that is no text is refused',
      ...register({ email: 'c@example.com', password: 123456789012 }),
      expect: refused.invalid('password'),
    },
    {
      name: 'nobody calls themselves verified',
      ...register({ email: 'c@example.com', password, verified: true }),
      expect: refused.forbidden,
    },
    ...['password_hash', 'token_version', 'totp_enabled', 'is_anonymous', 'has_password', 'password_reset_at'].map(
      (column): Scenario => ({
        name: `nobody sets ${column}`,
        ...register({ email: 'c@example.com', password, [column]: 'x' }),
        expect: refused.invalid(column),
      }),
    ),
    {
      name: 'what the server sets is ignored',
      ...register({ email: 'd@example.com', password, anonymous: true, id: 'mine', verified: false }),
      expect: { status: 201, json: session('d@example.com') },
      events,
    },
    { name: 'a body that is no object is malformed', ...register([]), expect: refused.malformed },
    {
      name: 'an unknown collection has no users',
      request: `POST ${auth}/nobody_here/register`,
      body: { email: 'c@example.com', password },
      expect: refused.notFound,
      spec: 'auth §1.1',
    },
  ]);
});

onEachTopology('users sign in with address and password', async (t, target) => {
  const users = await givenUsers(target);
  const other = await givenUsers(target);
  const base = `base_${users}`;
  await (await target.admin()).post('/api/v1/collections', { name: base, type: 'base', fields: [] });
  await signUp(target, users, 'ann@example.com');
  await signUp(target, other, 'otto@example.com');
  const login = (body: unknown, collection = users): Pick<Scenario, 'request' | 'body' | 'spec'> => ({
    request: `POST ${auth}/${collection}/login`,
    body,
    spec: 'auth §4.1',
  });
  await runScenarios(t, target, [
    {
      name: 'the right password opens a session',
      ...login({ email: 'ann@example.com', password }),
      expect: { status: 200, json: session('ann@example.com') },
    },
    {
      name: 'the address is trimmed and read without case',
      ...login({ email: '  ANN@example.com ', password }),
      expect: { status: 200, json: session('ann@example.com') },
    },
    ...[`${password} `, password.toUpperCase(), '', 'x'.repeat(5000)].map(
      (wrong, index): Scenario => ({
        name: `a wrong password is refused (${index})`,
        ...login({ email: 'ann@example.com', password: wrong }),
        expect: invalidCredentials,
      }),
    ),
    ...['nobody@example.com', 'otto@example.com', 'not an address', "' or true --", '', 'ann@example.com\u0000'].map(
      (email): Scenario => ({
        name: `who is not known here is refused in the same words (${JSON.stringify(email)})`,
        ...login({ email, password }),
        expect: invalidCredentials,
      }),
    ),
    { name: 'what is missing is named', ...login({}), expect: refused.invalid('email', 'password') },
    { name: 'a base collection has no users', ...login({ email: 'a', password }, base), expect: refused.notFound },
    {
      name: 'an unknown collection is not found before the body is looked at',
      ...login([], 'nobody_here'),
      expect: refused.notFound,
    },
  ]);
});

onEachTopology('many who sign in at once are all answered, and nobody else waits for them', async (t, target) => {
  const users = await givenUsers(target, { list_rule: null });
  await signUp(target, users, 'ann@example.com');
  let answered = 0;
  const logins = Array.from({ length: 60 }, async (_, index) => {
    const email = index % 2 === 0 ? 'ann@example.com' : `nobody${index}@example.com`;
    const { status } = await target.guest.send('POST', `${auth}/${users}/login`, { body: { email, password } });
    answered += 1;
    return status;
  });
  await t.test('other routes are answered while passwords are checked', async () => {
    const list = await target.guest.get(`/api/v1/${users}?perPage=1`);
    assert.equal(list.status, 200);
    assert.ok(answered < logins.length, 'the list came after the last login');
  });
  await t.test('each as it should be', async () => {
    const statuses = await Promise.all(logins);
    assert.deepEqual(
      statuses,
      statuses.map((_, index) => (index % 2 === 0 ? 200 : 401)),
    );
  });
});

onEachTopology('a user looks after their sessions', async (t, target) => {
  const users = await givenUsers(target);
  const other = await givenUsers(target);
  const first = await signUp(target, users, 'ann@example.com');
  const ann = clientOf(target, first);
  const second = await target.guest.post(`${auth}/${users}/login`, { email: 'ann@example.com', password }, 200);
  const phone = clientOf(target, second);
  const stranger = clientOf(target, await signUp(target, other, 'otto@example.com'));

  await t.test('the list names them, and which one asks', async () => {
    const { status, json } = await phone.get(`${auth}/${users}/sessions`);
    assert.equal(status, 200);
    const sessions = listAt(json, 'data');
    assert.equal(sessions.length, 2);
    for (const one of sessions)
      assert.deepEqual(Object.keys(one).sort(), ['created_at', 'current', 'id', 'ip', 'last_used_at', 'user_agent']);
    assert.deepEqual(sessions.map(({ current }) => current).sort(), [false, true]);
  });

  await t.test('a refreshed token is of the same session', async () => {
    const refreshed = await ann.post('/api/v1/auth/refresh', {}, 200);
    assert.deepEqual(textAt(refreshed, 'record.email'), 'ann@example.com');
    assert.notEqual(textAt(refreshed, 'token'), textAt(first, 'token'));
    assert.equal(listAt((await ann.get(`${auth}/${users}/sessions`)).json, 'data').length, 2);
  });

  await t.test('what is not theirs is refused', async () => {
    const annsList = listAt((await ann.get(`${auth}/${users}/sessions`)).json, 'data');
    const otherId = textAt(
      annsList.find(({ current }) => current !== true),
      'id',
    );
    assert.equal((await stranger.get(`${auth}/${users}/sessions`)).status, 403);
    await stranger.delete(`${auth}/${other}/sessions/${otherId}`, 404);
    assert.equal((await target.guest.get(`${auth}/${users}/sessions`)).status, 401);
    assert.equal((await (await target.admin()).get(`${auth}/${users}/sessions`)).status, 403);
    assert.equal((await phone.get(`${auth}/${users}/sessions`)).status, 200);
  });

  await t.test('a session that is signed out is no token any more, within a second', async () => {
    const list = listAt((await ann.get(`${auth}/${users}/sessions`)).json, 'data');
    const otherId = textAt(
      list.find(({ current }) => current !== true),
      'id',
    );
    await ann.delete(`${auth}/${users}/sessions/${otherId}`);
    await eventually('the end of the token', async () => (await phone.get(`${auth}/${users}/sessions`)).status === 401);
    assert.equal((await phone.send('POST', '/api/v1/auth/refresh', { body: {} })).status, 401);
    assert.equal((await ann.get(`${auth}/${users}/sessions`)).status, 200);
    await ann.delete(`${auth}/${users}/sessions/${otherId}`, 404);
  });

  await t.test('all others are signed out at once', async () => {
    const third = clientOf(
      target,
      await target.guest.post(`${auth}/${users}/login`, { email: 'ann@example.com', password }, 200),
    );
    await third.delete(`${auth}/${users}/sessions`);
    await eventually('the end of the token', async () => (await ann.get(`${auth}/${users}/sessions`)).status === 401);
    assert.equal(listAt((await third.get(`${auth}/${users}/sessions`)).json, 'data').length, 1);
  });
});

onEachTopology('tokens end with the password and the account', async (t, target) => {
  const users = await givenUsers(target, { list_rule: null });
  const admin = await target.admin();
  const changed = 'another long password';

  await t.test('a changed password answers with a fresh token, and all older ones die', async () => {
    const first = await signUp(target, users, 'ann@example.com');
    const ann = clientOf(target, first);
    const path = `${auth}/${users}/change-password`;
    assert.equal((await ann.send('POST', path, { body: { old_password: 'wrong', password: changed } })).status, 422);
    assert.equal((await ann.send('POST', path, { body: { old_password: password, password: 'short' } })).status, 422);
    const fresh = clientOf(target, await ann.post(path, { old_password: password, password: changed }, 200));
    await eventually('the end of the token', async () => (await ann.get(`${auth}/${users}/sessions`)).status === 401);
    assert.equal((await fresh.get(`${auth}/${users}/sessions`)).status, 200);
    const login = (tried: string) =>
      target.guest.send('POST', `${auth}/${users}/login`, { body: { email: 'ann@example.com', password: tried } });
    assert.equal((await login(password)).status, 401);
    assert.equal((await login(changed)).status, 200);
  });

  await t.test('of parallel changes one wins', async () => {
    const ann = clientOf(target, await signUp(target, users, 'par@example.com'));
    const answers = await Promise.all(
      Array.from({ length: 5 }, (_, index) =>
        ann.send('POST', `${auth}/${users}/change-password`, {
          body: { old_password: password, password: `${changed} ${index}` },
        }),
      ),
    );
    assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  });

  await t.test('the tokens of a deleted user are no tokens, also on a public route', async () => {
    const first = await signUp(target, users, 'gone@example.com');
    const gone = clientOf(target, first);
    assert.equal((await gone.get(`/api/v1/${users}`)).status, 200);
    await admin.delete(`/api/v1/${users}/${textAt(first, 'record.id')}`);
    await eventually('the end of the token', async () => (await gone.get(`${auth}/${users}/sessions`)).status === 401);
    assert.equal((await gone.get(`/api/v1/${users}`)).status, 200, 'as a guest');
  });

  await t.test('a token that names nobody is none, however well it is signed', async () => {
    const known = objectAt(await signUp(target, users, 'ida@example.com'), 'record');
    const claims = { aud: 'user', id: known.id, email: 'ida@example.com', collection: users };
    const statusOf = async (more: object): Promise<number> => {
      const client = createClient(target.url, await mint(target.secret, { ...claims, ...more }));
      return (await client.get(`${auth}/${users}/sessions`)).status;
    };
    assert.equal(await statusOf({}), 200);
    assert.equal(await statusOf({ tv: 1 }), 401);
    assert.equal(await statusOf({ sid: 'made-up' }), 401);
    assert.equal(await statusOf({ id: '01980000-0000-7000-8000-000000000009' }), 401);
    assert.equal(await statusOf({ collection: 'nobody_here' }), 401);
    assert.equal(await statusOf({ collection: 'a"; drop table x --' }), 401);
    assert.equal(await statusOf({ aud: 'admin' }), 401);
  });

  await t.test('signing out ends only the session of the token [auth §9.4]', async () => {
    await signUp(target, users, 'leaver@example.com');
    const logIn = async () =>
      clientOf(
        target,
        await target.guest.post(`${auth}/${users}/login`, { email: 'leaver@example.com', password }, 200),
      );
    const [one, other] = [await logIn(), await logIn()];
    const answer = await one.send('POST', `${auth}/${users}/logout`);
    assert.deepEqual([answer.status, answer.json], [200, { data: null }]);
    assert.equal((await one.send('POST', `${auth}/${users}/logout`)).status, 401);
    await eventually('the end of the token', async () => (await one.get(`${auth}/${users}/sessions`)).status === 401);
    assert.equal((await other.get(`${auth}/${users}/sessions`)).status, 200);
    assert.equal((await target.guest.send('POST', `${auth}/${users}/logout`)).status, 401);
    assert.equal((await other.send('POST', `${auth}/${await givenUsers(target)}/logout`)).status, 403);
    assert.equal((await other.send('POST', '/api/v1/admin/logout')).status, 403);
    const email = `leaving_${users}@example.com`;
    await admin.post('/api/v1/admin/admins', { email, password });
    const root = clientOf(target, await target.guest.post('/api/v1/admin/login', { email, password }, 200));
    assert.equal((await root.send('POST', '/api/v1/admin/logout')).status, 200);
    assert.equal((await root.send('POST', '/api/v1/admin/logout')).status, 401);
  });

  await t.test('an admin who is changed or deleted is signed out', async () => {
    const email = `${users}@example.com`;
    const { id } = await admin.post('/api/v1/admin/admins', { email, password });
    const logIn = async () =>
      clientOf(target, await target.guest.post('/api/v1/admin/login', { email, password }, 200));
    const second = await logIn();
    assert.equal(listAt((await second.get('/api/v1/admin/sessions')).json, 'data').length, 1);
    await admin.patch(`/api/v1/admin/admins/${id}`, { password });
    await eventually('the end of the token', async () => (await second.get('/api/v1/admin/me')).status === 401);
    const third = await logIn();
    await admin.delete(`/api/v1/admin/admins/${id}`);
    await eventually('the end of the token', async () => (await third.get('/api/v1/admin/me')).status === 401);
  });
});

onEachTopology('what is no session token opens nothing', async (t, target) => {
  const users = await givenUsers(target);
  const ann = objectAt(await signUp(target, users, 'ann@example.com'), 'record');
  const nowSec = Math.floor(Date.now() / 1000);
  const claims = { aud: 'user', id: ann.id, email: 'ann@example.com', collection: users };
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const unsigned = encode({ ...claims, iat: nowSec, exp: nowSec + 600 });
  const typed = (typ: string) =>
    new SignJWT({ iat: nowSec, exp: nowSec + 600, ...claims })
      .setProtectedHeader({ alg: 'HS256', typ })
      .sign(new TextEncoder().encode(target.secret));
  const tokens: Record<string, string> = {
    'that is not signed': `${encode({ alg: 'none', typ: 'JWT' })}.${unsigned}.`,
    'whose signature is of another algorithm': await new SignJWT({ iat: nowSec, exp: nowSec + 600, ...claims })
      .setProtectedHeader({ alg: 'HS512', typ: 'JWT' })
      .sign(new TextEncoder().encode(target.secret)),
    'of another secret': await mint('x'.repeat(64), claims),
    'that has expired': await mint(target.secret, { ...claims, exp: nowSec - 1 }),
    'of the future': await mint(target.secret, { ...claims, iat: nowSec + 3600, exp: nowSec + 7200 }),
    'without an end': await mint(target.secret, { ...claims, exp: undefined }),
    'for users and admins': await mint(target.secret, { ...claims, aud: ['user', 'admin'] }),
    'for files': await mint(target.secret, { ...claims, aud: 'file' }),
    'of another type': await typed('file+jwt'),
    'that says it is of an admin': await mint(target.secret, { ...claims, aud: 'admin' }),
  };
  await runScenarios(
    t,
    target,
    Object.entries(tokens).flatMap(([which, token]): Scenario[] =>
      [`GET ${auth}/${users}/sessions`, 'POST /api/v1/auth/refresh'].map((request) => ({
        name: `a token ${which}: ${request.replace(users, '<col>')}`,
        request,
        ...(request.startsWith('POST') && { body: {} }),
        headers: { Authorization: `Bearer ${token}` },
        expect: refused.unauthenticated,
        spec: 'http §6.2',
      })),
    ),
  );
});
