import assert from 'node:assert/strict';
import { decodeJwt } from 'jose';
import { type Client, createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { objectAt, textAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { startMailServer } from '../harness/servers/mail-server.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology, type Target } from '../harness/stacks/target.ts';

const password = 'a long and winding password';
const path = '/api/v1/auth/visitors';
const daySec = 86_400;

const windowOf = (token: string): number => {
  const { exp, iat } = decodeJwt(token);
  return Number(exp) - Number(iat);
};

interface Visitor {
  readonly id: string;
  readonly token: string;
  readonly client: Client;
  readonly record: unknown;
}

/** Creates two auth collections, one with an optional and one with a required nickname. */
async function prepare(target: Target): Promise<{ admin: Client; visit: () => Promise<Visitor> }> {
  const admin = await target.admin();
  const fields = [{ name: 'nick', type: 'text', options: { max: 10 } }];
  const demanding = [...fields.map((field) => ({ ...field, required: true })), { name: 'face', type: 'file' }];
  await admin.send('POST', '/api/v1/collections', { body: { name: 'visitors', type: 'auth', fields } });
  await admin.send('POST', '/api/v1/collections', { body: { name: 'members', type: 'auth', fields: demanding } });
  return {
    admin,
    async visit() {
      const session = await target.guest.post(`${path}/anonymous`, undefined);
      const token = textAt(session, 'token');
      const record = objectAt(session, 'record');
      return { id: textAt(session, 'record.id'), token, client: createClient(target.url, token), record };
    },
  };
}

async function enable(admin: Client, target: Target): Promise<void> {
  await admin.patch('/api/v1/admin/settings', { 'auth.anonymous.enabled': '1' });
  await eventually(
    'anonymous sign-in is enabled',
    async () => (await target.guest.send('POST', `${path}/anonymous`)).status === 201,
  );
}

const record = (more: object = {}) => ({
  id: is.uuidV7,
  email: is.matching(/^anon_[0-9a-f-]{36}@users\.invalid$/),
  verified: false,
  anonymous: true,
  nick: null,
  created: is.now,
  updated: is.now,
  ...more,
});

onEachTopology('a guest signs in anonymously', async (t, target) => {
  const { admin, visit } = await prepare(target);
  await t.test('anonymous sign-in is disabled by default, and answers 422 [auth §1.6]', async () => {
    const { status, json } = await target.guest.send('POST', `${path}/anonymous`);
    assert.deepEqual([status, textAt(json, 'code')], [422, 'feature_disabled']);
  });
  await enable(admin, target);
  const anonymous = (body?: object, collection = 'visitors'): Pick<Scenario, 'request' | 'body' | 'spec'> => ({
    request: `POST /api/v1/auth/${collection}/anonymous`,
    ...(body && { body }),
    spec: 'auth §7.1',
  });
  await runScenarios(t, target, [
    {
      name: 'without a body',
      ...anonymous(),
      expect: { status: 201, json: { data: { token: is.text, record: record() } } },
      events: ['visitors.create'],
    },
    {
      name: 'with a field of the collection',
      ...anonymous({ nick: 'ghost' }),
      expect: { status: 201, json: { data: { token: is.text, record: record({ nick: 'ghost' }) } } },
      events: ['visitors.create'],
    },
    { name: 'an invalid field', ...anonymous({ nick: 'x'.repeat(11) }), expect: refused.invalid('nick') },
    { name: 'a missing required field', ...anonymous({}, 'members'), expect: refused.invalid('nick') },
    {
      name: 'the required field',
      ...anonymous({ nick: 'ghost' }, 'members'),
      expect: { status: 201, json: { data: { token: is.text, record: record({ nick: 'ghost', face: null }) } } },
      events: ['members.create'],
    },
    {
      name: 'the name of a file without an upload',
      ...anonymous({ nick: 'ghost', face: 'face_0123456789.png' }, 'members'),
      expect: refused.invalid('face'),
    },
    {
      name: 'an address and a password',
      ...anonymous({ email: 'a@example.com', password }),
      expect: refused.invalid('email', 'password'),
    },
    { name: 'a verified anonymous user', ...anonymous({ verified: true }), expect: refused.forbidden },
    ...['is_anonymous', 'password_hash', 'token_version'].map(
      (column): Scenario => ({
        name: `the column ${column} as a member`,
        ...anonymous({ [column]: 1 }),
        expect: refused.invalid(column),
      }),
    ),
    { name: 'an unknown collection', ...anonymous({}, 'nowhere'), expect: refused.notFound },
  ]);

  await t.test('the token has its own claim and lifetime, refreshed ones too', async () => {
    const { token, client, id } = await visit();
    const { aud, anonymous: claim, id: claimed } = decodeJwt(token);
    assert.deepEqual([aud, claim, claimed], ['user', true, id]);
    assert.equal(windowOf(token), 30 * daySec);
    const refreshed = textAt(await client.post('/api/v1/auth/refresh', {}, 200), 'token');
    assert.equal(decodeJwt(refreshed).anonymous, true);
    assert.equal(windowOf(refreshed), 30 * daySec);
    await admin.patch('/api/v1/admin/settings', { 'auth.anonymous.window_seconds': '600' });
    await eventually('the lifetime applies', async () => windowOf((await visit()).token) === 600);
    assert.equal(windowOf(textAt(await client.post('/api/v1/auth/refresh', {}, 200), 'token')), 600);
    await admin.patch('/api/v1/admin/settings', { 'auth.anonymous.window_seconds': '' });
  });

  await t.test('the placeholder address cannot sign in, and changes only by promotion', async () => {
    const { client, id, record: shown } = await visit();
    const email = textAt(shown, 'email');
    for (const given of ['', password, 'null'])
      assert.equal(
        (await target.guest.send('POST', `${path}/login`, { body: { email, password: given } })).status,
        401,
      );
    const refusals: [string, string, object][] = [
      ['POST', `${path}/request-email-change`, { email: 'a@example.com' }],
      ['PATCH', `/api/v1/visitors/${id}`, { email: 'a@example.com' }],
      ['PATCH', `/api/v1/visitors/${id}`, { password, old_password: '' }],
      ['POST', `${path}/totp/setup`, {}],
    ];
    await using mail = await startMailServer();
    await admin.patch('/api/v1/admin/settings', mail.settings);
    await eventually('mail is enabled', async () => {
      const [method, change, body] = ['POST', `${path}/request-email-change`, { email: 'a@example.com' }];
      return (await client.send(method, change, { body })).status === 403;
    });
    for (const [method, refusing, body] of refusals) {
      const { status, text } = await client.send(method, refusing, { body });
      assert.equal(status, 403, `${method} ${refusing}: ${text}`);
    }
    const unchanged = { ...objectAt((await client.get(`/api/v1/visitors/${id}`)).json, 'data'), nick: 'me' };
    assert.equal((await client.send('PATCH', `/api/v1/visitors/${id}`, { body: unchanged })).status, 200);
    for (const route of ['request-password-reset', 'otp/request', 'request-verify'])
      await client.send('POST', `${path}/${route}`, { body: { email } });
    // A later mail that arrives shows that no earlier one was sent.
    await target.guest.post(`${path}/register`, { email: `last.${target.url.length}@example.com`, password });
    await mail.mailTo(`last.${target.url.length}@example.com`);
    assert.equal(mail.received.filter(({ recipients }) => recipients.includes(email)).length, 0);
    await admin.patch('/api/v1/admin/settings', { 'smtp.enabled': '0' });
  });
});

onEachTopology('an anonymous user is promoted', async (t, target) => {
  const { admin, visit } = await prepare(target);
  await enable(admin, target);
  const taken = 'taken@example.com';
  await target.guest.send('POST', `${path}/register`, { body: { email: taken, password } });
  const regular = await target.guest.post(`${path}/register`, { email: `regular@${Date.now()}.example.com`, password });
  const visitor = await visit();
  const authorization = (token: string) => ({ Authorization: `Bearer ${token}` });
  const promotion = (body: unknown, token?: string): Pick<Scenario, 'request' | 'body' | 'headers' | 'spec'> => ({
    request: `POST ${path}/promote`,
    body,
    ...(token && { headers: authorization(token) }),
    spec: 'auth §7.3',
  });
  const email = `Vi@${Date.now()}.example.com`;
  await runScenarios(t, target, [
    { name: 'a guest, before the body is checked', ...promotion([]), expect: refused.unauthenticated },
    {
      name: 'a regular user, before the body is checked',
      ...promotion({}, textAt(regular, 'token')),
      expect: refused.forbidden,
    },
    { name: 'an admin', ...promotion({}), as: 'admin', expect: refused.forbidden },
    {
      name: 'an anonymous user of another collection',
      ...promotion({ email, password }, visitor.token),
      request: 'POST /api/v1/auth/members/promote',
      expect: refused.forbidden,
    },
    {
      name: 'a taken address in another case, before the password is checked',
      ...promotion({ email: ` ${taken.toUpperCase()}`, password: 'short' }, visitor.token),
      expect: refused.conflict,
    },
    {
      name: 'an invalid address and password',
      ...promotion({ email: 'nowhere', password: 'short' }, visitor.token),
      expect: refused.invalid('email', 'password'),
    },
    {
      name: 'a weak password',
      ...promotion({ email, password: 'short' }, visitor.token),
      expect: refused.invalid('password'),
    },
    { name: 'an empty object', ...promotion({}, visitor.token), expect: refused.invalid('email', 'password') },
  ]);

  const disabled = { 'auth.anonymous.enabled': '0' };
  await admin.patch('/api/v1/admin/settings', disabled);
  await eventually(
    'anonymous sign-in is disabled',
    async () => (await target.guest.send('POST', `${path}/anonymous`)).status === 422,
  );

  await t.test(
    'a promoted user keeps id and data and gets a new token, even while anonymous sign-in is disabled [auth §7.2]',
    async () => {
      await visitor.client.patch(`/api/v1/visitors/${visitor.id}`, { nick: 'vi' });
      const body = { email, password, verified: true, id: 'mine', anonymous: true };
      const session = await visitor.client.post(`${path}/promote`, body, 200);
      const { id, anonymous, verified, nick, email: address } = objectAt(session, 'record');
      assert.deepEqual([id, anonymous, verified, nick, address], [visitor.id, false, false, 'vi', email]);
      const token = textAt(session, 'token');
      assert.equal(decodeJwt(token).anonymous, undefined);
      assert.equal(windowOf(token), 7 * daySec);
      assert.equal((await createClient(target.url, token).get(`${path}/sessions`)).status, 200);
      const login = await target.guest.post(`${path}/login`, { email: email.toLowerCase(), password }, 200);
      assert.equal(textAt(login, 'record.id'), visitor.id);
    },
  );

  await t.test('the old token has ended, and promote answers it with 403 [auth §7.2, §7.3]', async () => {
    const again = () => visitor.client.send('POST', `${path}/promote`, { body: { email: 'b@example.com', password } });
    await eventually('the token has ended', async () => (await visitor.client.get(`${path}/sessions`)).status === 401);
    const { status, json } = await again();
    assert.deepEqual([status, textAt(json, 'code')], [403, 'not_anonymous']);
    assert.equal((await visitor.client.send('POST', '/api/v1/auth/refresh', { body: {} })).status, 401);
  });

  await t.test('the promotion is audited', async () => {
    const { json } = await admin.get(`/api/v1/admin/audit?action=users.promote&actor_id=${visitor.id}`);
    assert.equal(textAt(json, 'data.0.target_id'), visitor.id);
  });
});

onEachTopology('when several promote at once, one succeeds', async (t, target) => {
  const { admin, visit } = await prepare(target);
  await enable(admin, target);
  await using mail = await startMailServer();
  await admin.patch('/api/v1/admin/settings', mail.settings);
  const prober = await target.guest.post(`${path}/register`, { email: `probe@${Date.now()}.example.com`, password });
  const probe = createClient(target.url, textAt(prober, 'token'));
  await eventually('mail is enabled', async () => (await probe.send('POST', `${path}/request-verify`)).status === 200);
  const promoteAll = async (visitors: readonly Visitor[], email: (index: number) => string) => {
    const answers = await Promise.all(
      visitors.map(({ client }, index) =>
        client.send('POST', `${path}/promote`, { body: { email: email(index), password } }),
      ),
    );
    return answers.map(({ status }) => status).sort();
  };
  const one = Date.now();
  await t.test('of one user', async () => {
    const visitor = await visit();
    const statuses = await promoteAll([visitor, visitor, visitor], (index) => `u${index}@${one}.example.com`);
    assert.deepEqual(statuses, [200, 403, 403]);
  });
  await t.test('to one address, which gets a verification mail', async () => {
    const visitors = [await visit(), await visit(), await visit()];
    const email = `one@${one}.example.com`;
    assert.deepEqual(await promoteAll(visitors, () => email), [200, 409, 409]);
    const { token } = await mail.mailTo(email);
    assert.equal((await target.guest.send('POST', `${path}/verify-email`, { body: { token } })).status, 200);
  });
});
