import assert from 'node:assert/strict';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { type Answer, type Client, createClient } from '../harness/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at, listAt, objectAt, textAt } from '../harness/json.ts';
import { startMailServer } from '../harness/mail-server.ts';
import { differences, is } from '../harness/matching.ts';
import { type Person, redirectUri, startOidcServer } from '../harness/oidc-server.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios } from '../harness/scenario.ts';
import { onEachTopology } from '../harness/target.ts';
import { totpCode, wrongTotpCode } from '../harness/totp.ts';

const password = 'correct horse battery staple';
const path = '/api/v1/auth/people/oauth2';
const provider = 'oidc';

const statusOf = ({ status }: Answer): number => status;
const challengeOf = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url');
const queryOf = (members: Readonly<Record<string, string>>): string => new URLSearchParams(members).toString();
const notEnabled = { status: 422, json: { error: is.text, code: 'oauth_provider_not_enabled' } };

/** Somebody whose address the provider vouches for. */
const newPerson = (name: string): Person & { readonly email: string } => ({
  id: `${name}-${randomUUID()}`,
  email: `${name}@example.com`,
  email_verified: true,
});

onEachTopology('signing in by OAuth2', async (t, target) => {
  const admin = await target.admin();
  const { guest } = target;
  await admin.post('/api/v1/collections', {
    name: 'people',
    type: 'auth',
    fields: [{ name: 'nick', type: 'text' }],
    update_rule: 'id = @request.auth.id',
    delete_rule: 'id = @request.auth.id',
  });
  await admin.post('/api/v1/collections', { name: 'plain', type: 'base', fields: [] });
  await using server = await startOidcServer();
  const wish = { provider, redirectUri, state: 's' };
  const brought = { provider, redirectUri, code: 'c' };
  const authorizeRow = (name: string, members: Readonly<Record<string, string>>, expect: { status: number }) => ({
    name,
    request: `GET ${path}/authorize?${queryOf(members)}`,
    expect,
    spec: 'interface §5, OAuth2',
  });
  const without = (members: Readonly<Record<string, string>>, gone: string) =>
    Object.fromEntries(Object.entries(members).filter(([name]) => name !== gone));

  const malformed: readonly Readonly<Record<string, string>>[] = [
    { redirectUri: '/signed-in' },
    { redirectUri: 'javascript:alert(1)' },
    { redirectUri: `${redirectUri}#here` },
    { redirectUri: `https://app.example.com/${'x'.repeat(2048)}` },
    { state: '' },
    { state: 'x'.repeat(1025) },
    { use_pkce: 'yes' },
    { code_challenge: challengeOf('v'), code_challenge_method: 'plain' },
    { code_challenge: challengeOf('v') },
    { code_challenge: 'short', code_challenge_method: 'S256' },
    { code_challenge_method: 'S256' },
    { code_challenge: challengeOf('v'), code_challenge_method: 'S256', use_pkce: '1' },
  ];
  await runScenarios(t, target, [
    {
      name: 'no provider is enabled at first',
      request: `GET ${path}/providers`,
      expect: { status: 200, json: { data: [] } },
      spec: 'interface §4.1',
    },
    authorizeRow('a provider that is not enabled', wish, notEnabled),
    authorizeRow('a provider that nobody knows', { ...wish, provider: 'myspace' }, notEnabled),
    {
      name: 'nor is anything exchanged with it',
      request: `POST ${path}/exchange`,
      body: brought,
      expect: notEnabled,
      spec: 'interface §7',
    },
    {
      name: 'it is set up',
      as: 'admin',
      request: 'PATCH /api/v1/admin/settings',
      body: {
        ...server.settings(),
        'oauth2.google.enabled': '1',
        'oauth2.google.client_id': 'no-secret',
      },
      expect: { status: 200 },
      spec: 'interface §2.7',
    },
    {
      name: 'it is there at once; one without a secret is not',
      request: `GET ${path}/providers`,
      expect: { status: 200, json: { data: [{ name: 'oidc', displayName: 'OpenID Connect' }] } },
      spec: 'interface §4.1',
    },
    ...['provider', 'redirectUri', 'state'].map((name) =>
      authorizeRow(`${name} is missing`, without(wish, name), refused.malformedWith({ [name]: is.text })),
    ),
    ...malformed.map((members) =>
      authorizeRow(
        `${JSON.stringify(members).slice(0, 60)} is malformed`,
        { ...wish, ...members },
        refused.malformedWith(is.containing({})),
      ),
    ),
    ...['provider', 'redirectUri', 'code'].map((name) => ({
      name: `exchange: ${name} is missing`,
      request: `POST ${path}/exchange`,
      body: without(brought, name),
      expect: refused.malformedWith({ [name]: is.text }),
      spec: 'interface §7',
    })),
    ...[{ code_verifier: 'short' }, { state: 5 }, { code: '' }].map((members) => ({
      name: `exchange: ${JSON.stringify(members)} is malformed`,
      request: `POST ${path}/exchange`,
      body: { ...brought, ...members },
      expect: refused.malformedWith(is.containing({})),
      spec: 'interface §7',
    })),
    {
      name: 'a code that the provider does not know: its words are told',
      request: `POST ${path}/exchange`,
      body: brought,
      expect: {
        status: 422,
        json: { error: is.text, code: 'oauth_refused', details: { provider: is.matching(/^invalid_grant/) } },
      },
      spec: 'interface §7',
    },
    {
      name: 'merge-confirm without anything',
      request: `POST ${path}/merge-confirm`,
      body: {},
      expect: refused.malformedWith({ merge_token: is.text }),
      spec: 'interface §7',
    },
    {
      name: 'merge-confirm with neither password nor session',
      request: `POST ${path}/merge-confirm`,
      body: { merge_token: 'x' },
      expect: refused.malformedWith({ password: is.text }),
      spec: 'interface §4.1',
    },
    {
      name: 'merge-confirm with a session that is none',
      request: `POST ${path}/merge-confirm`,
      headers: { Authorization: 'Bearer x' },
      body: { merge_token: 'x' },
      expect: refused.unauthenticated,
      spec: 'contract §1',
    },
    {
      name: 'merge-confirm with a token that nobody issued',
      request: `POST ${path}/merge-confirm`,
      body: { merge_token: 'x', password },
      expect: refused.invalidCredentials,
      spec: 'interface §7',
    },
    {
      name: 'a guest has nothing to unlink',
      request: `DELETE ${path}/oidc/unlink`,
      expect: refused.unauthenticated,
      spec: 'interface §4.1',
    },
    {
      name: 'an admin neither',
      as: 'admin',
      request: `DELETE ${path}/oidc/unlink`,
      expect: refused.forbidden,
      spec: 'contract §1',
    },
    {
      name: 'a user of another collection neither',
      as: 'user',
      request: `DELETE ${path}/oidc/unlink`,
      expect: refused.forbidden,
      spec: 'interface §4.1',
    },
    ...['GET /providers', `GET /authorize?${queryOf(wish)}`, 'POST /exchange', 'POST /merge-confirm'].map(
      (request) => ({
        name: `${request.slice(0, 20)} of a collection without users`,
        request: request.replace(' ', ' /api/v1/auth/plain/oauth2'),
        expect: refused.notFound,
        spec: 'contract §4',
      }),
    ),
  ]);

  const authorize = async (more: Readonly<Record<string, string>> = {}): Promise<string> => {
    const { status, json, text } = await guest.send(
      'GET',
      `${path}/authorize?${queryOf({ ...wish, state: randomUUID(), ...more })}`,
    );
    assert.equal(status, 200, text);
    return textAt(json, 'data.authorize_url');
  };
  /** Goes to the provider and back; what is brought back is for exchange. */
  const visit = async (person: Person, more: Readonly<Record<string, string>> = {}) => {
    const arrival = await server.visit(await authorize(more), person);
    return { provider, redirectUri, ...arrival };
  };
  const exchange = (body: object): Promise<Answer> => guest.send('POST', `${path}/exchange`, { body });
  const signIn = async (person: Person): Promise<Answer> => exchange(await visit(person));
  const as = (token: string): Client => createClient(target.url, token);
  const register = async (email: string) => {
    const data = await guest.post('/api/v1/auth/people/register', { email, password });
    return { id: textAt(data, 'record.id'), token: textAt(data, 'token') };
  };
  const merge = (body: object, client = guest): Promise<Answer> =>
    client.send('POST', `${path}/merge-confirm`, { body });
  const mergeTokenFor = async (person: Person): Promise<string> => textAt((await signIn(person)).json, 'merge_token');
  const unlink = (token: string): Promise<Answer> => as(token).send('DELETE', `${path}/oidc/unlink`);

  await t.test('who comes for the first time is made a user, who comes again is the same', async () => {
    const person = newPerson('fay');
    const first = await signIn(person);
    assert.equal(first.status, 200, first.text);
    const record = objectAt(first.json, 'data.record');
    assert.deepEqual(
      differences(first.json, {
        data: {
          token: is.text,
          record: {
            id: is.uuidV7,
            email: `oidc_${record.id}@users.invalid`,
            verified: false,
            nick: null,
            anonymous: false,
            created: is.now,
            updated: is.now,
          },
        },
      }),
      [],
    );
    const again = await signIn(person);
    assert.equal(textAt(again.json, 'data.record.id'), record.id);
    const own = as(textAt(again.json, 'data.token'));
    assert.equal(statusOf(await own.send('PATCH', `/api/v1/people/${record.id}`, { body: { nick: 'fay' } })), 200);
    assert.equal(statusOf(await own.send('POST', '/api/v1/auth/refresh')), 200);
  });

  await t.test('many at once for one new person make one user', async () => {
    const person = newPerson('gus');
    const visits = await Promise.all(Array.from({ length: 4 }, () => visit(person)));
    const answers = await Promise.all(visits.map(exchange));
    assert.deepEqual(answers.map(statusOf), [200, 200, 200, 200]);
    assert.equal(new Set(answers.map(({ json }) => at(json, 'data.record.id'))).size, 1);
  });

  await t.test('a code is good once', async () => {
    const brought = await visit(newPerson('hal'));
    assert.equal(statusOf(await exchange(brought)), 200);
    const replay = await exchange(brought);
    assert.equal(replay.status, 422);
    assert.match(textAt(replay.json, 'details.provider'), /^invalid_grant/);
    assert.ok(!replay.text.includes(brought.code), 'what is secret is not repeated');
  });

  await t.test('a redirectUri that the provider does not know of the code is refused by it', async () => {
    const brought = await visit(newPerson('ivy'));
    assert.equal(statusOf(await exchange({ ...brought, redirectUri: 'https://evil.example.com/' })), 422);
  });

  await t.test('a client that proves itself in the form works too', async () => {
    await admin.patch('/api/v1/admin/settings', server.settings('post'));
    assert.equal(statusOf(await signIn(newPerson('jon'))), 200);
    await admin.patch('/api/v1/admin/settings', server.settings());
  });

  await t.test('PKCE by the server: the state brings the verifier back, once', async () => {
    const person = newPerson('kim');
    const state = randomBytes(16).toString('hex');
    const url = await authorize({ use_pkce: '1', state });
    assert.match(url, /[?&]code_challenge=[\w-]{43}&code_challenge_method=S256/);
    assert.equal(url, await authorize({ use_pkce: '1', state }), 'a page that is loaded ahead changes nothing');
    const brought = await visit(person, { use_pkce: '1', state });
    assert.equal(statusOf(await exchange({ ...brought, redirectUri: 'https://evil.example.com/' })), 401);
    const answers = await Promise.all(Array.from({ length: 4 }, () => exchange(brought)));
    assert.deepEqual(answers.map(statusOf).sort(), [200, 401, 401, 401]);
    assert.equal(statusOf(await exchange(brought)), 401);
    assert.equal(
      statusOf(await exchange({ ...brought, code: (await visit(person)).code })),
      401,
      'nor for another code',
    );
  });

  await t.test('PKCE by the server: without the state the provider refuses the code', async () => {
    const { state, ...brought } = await visit(newPerson('lea'), { use_pkce: '1' });
    assert.ok(state);
    assert.equal(statusOf(await exchange(brought)), 422);
    const other = await visit(newPerson('leo'), { use_pkce: '1' });
    assert.equal(statusOf(await exchange({ ...other, state: 'of-nobody' })), 422);
  });

  await t.test('PKCE by the client: the right verifier, and no other', async () => {
    const verifier = randomBytes(32).toString('base64url');
    const challenge = { code_challenge: challengeOf(verifier), code_challenge_method: 'S256' };
    const person = newPerson('max');
    const wrong = await exchange({ ...(await visit(person, challenge)), code_verifier: verifier.replace(/^../, '__') });
    assert.equal(wrong.status, 422);
    assert.ok(!wrong.text.includes(verifier.slice(2)));
    assert.equal(statusOf(await exchange(await visit(person, challenge))), 422);
    assert.equal(statusOf(await exchange({ ...(await visit(person, challenge)), code_verifier: verifier })), 200);
  });

  await t.test('an address that somebody has here has to be confirmed, by the password', async () => {
    const person = newPerson('ned');
    const { id } = await register('NED@example.com');
    const asked = await signIn(person);
    assert.equal(asked.status, 200);
    const required = { merge_required: true, merge_token: is.text, email: 'NED@example.com', provider };
    assert.deepEqual(differences(asked.json, { ...required, data: required }), []);
    const merge_token = textAt(asked.json, 'merge_token');
    assert.equal(textAt(asked.json, 'data.merge_token'), merge_token);
    assert.equal(statusOf(await merge({ merge_token, password: 'wrong' })), 401);
    const done = await merge({ merge_token, password });
    assert.equal(done.status, 200, done.text);
    assert.deepEqual(
      differences(done.json, {
        data: { token: is.text, record: is.containing({ id, verified: false }), linked_provider: provider },
      }),
      [],
    );
    assert.equal(statusOf(await merge({ merge_token, password })), 401, 'once');
    assert.equal(textAt((await signIn(person)).json, 'data.record.id'), id);
    await guest.post('/api/v1/auth/people/login', { email: 'ned@example.com', password }, 200);
  });

  await t.test('or by the own session, and nobody else’s', async () => {
    const person = newPerson('ola');
    const { id, token } = await register('ola@example.com');
    const other = await register('other@example.com');
    const merge_token = await mergeTokenFor(person);
    assert.equal(statusOf(await merge({ merge_token }, as(other.token))), 403);
    assert.equal(statusOf(await merge({ merge_token }, await target.user())), 403, 'of another collection');
    assert.equal(statusOf(await merge({ merge_token }, admin)), 400, 'an admin is nobody here');
    const answers = await Promise.all(Array.from({ length: 4 }, () => merge({ merge_token }, as(token))));
    assert.deepEqual(answers.map(statusOf).sort(), [200, 401, 401, 401]);
    assert.equal(textAt((await signIn(person)).json, 'data.record.id'), id);
  });

  await t.test('of many confirmations at once one wins', async () => {
    await register('pia@example.com');
    const merge_token = await mergeTokenFor(newPerson('pia'));
    const answers = await Promise.all(Array.from({ length: 5 }, () => merge({ merge_token, password })));
    assert.deepEqual(answers.map(statusOf).sort(), [200, 401, 401, 401, 401]);
  });

  await t.test('the fifth wrong password kills the token, also at once', async () => {
    await register('quin@example.com');
    const merge_token = await mergeTokenFor(newPerson('quin'));
    const answers = await Promise.all(Array.from({ length: 5 }, () => merge({ merge_token, password: 'wrong' })));
    assert.deepEqual(answers.map(statusOf), [401, 401, 401, 401, 401]);
    assert.equal(statusOf(await merge({ merge_token, password })), 401);
  });

  await t.test('a link that is there by then is fine; one of somebody else is not moved', async () => {
    const person = newPerson('rex');
    const { id } = await register('rex@example.com');
    const merge_token = await mergeTokenFor(person);
    await admin.patch(`/api/v1/people/${id}`, { email: 'rex.else@example.com' });
    const taken = textAt((await signIn(person)).json, 'data.record.id');
    assert.notEqual(taken, id);
    await admin.patch(`/api/v1/people/${id}`, { email: 'rex@example.com' });
    assert.equal(statusOf(await merge({ merge_token, password })), 409);
    assert.equal(textAt((await signIn(person)).json, 'data.record.id'), taken);
  });

  await t.test('an address that the provider does not vouch for leads to nobody', async () => {
    const { id } = await register('sue@example.com');
    for (const email_verified of [false, undefined]) {
      const person = {
        id: randomUUID(),
        email: 'sue@example.com',
        ...(email_verified !== undefined && { email_verified }),
      };
      const answer = await signIn(person);
      assert.equal(answer.status, 200);
      assert.notEqual(textAt(answer.json, 'data.record.id'), id);
      assert.match(textAt(answer.json, 'data.record.email'), /@users\.invalid$/);
    }
  });

  await t.test('tokens of another kind confirm nothing, and a merge token is no other', async () => {
    const { token } = await register('tom@example.com');
    const merge_token = await mergeTokenFor(newPerson('tom'));
    assert.equal(statusOf(await merge({ merge_token: token, password })), 401);
    assert.equal(statusOf(await as(merge_token).send('POST', '/api/v1/auth/refresh')), 401);
    const elsewhere = (suffix: string, body: object) => guest.send('POST', `/api/v1/auth/people${suffix}`, { body });
    assert.equal(statusOf(await elsewhere('/verify-email', { token: merge_token })), 401);
    assert.equal(statusOf(await elsewhere('/confirm-password-reset', { token: merge_token, password })), 401);
    assert.equal(statusOf(await elsewhere('/login/mfa', { mfa_token: merge_token, code: '123456' })), 401);
    const there = `/api/v1/auth/members/oauth2/merge-confirm`;
    assert.equal(statusOf(await guest.send('POST', there, { body: { merge_token, password } })), 401);
    assert.equal(statusOf(await merge({ merge_token, password })), 200, 'and nothing of that used it up');
  });

  await t.test('a new password ends a merge that waits', async () => {
    const { token } = await register('uli@example.com');
    const merge_token = await mergeTokenFor(newPerson('uli'));
    const body = { old_password: password, password: `${password} again` };
    assert.equal(statusOf(await as(token).send('POST', '/api/v1/auth/people/change-password', { body })), 200);
    assert.equal(statusOf(await merge({ merge_token, password: body.password })), 401);
  });

  await t.test('who has an authenticator app is asked for it; the link of a merge waits for that', async () => {
    const person = newPerson('vic');
    const { id, token } = await register('vic@example.com');
    const own = as(token);
    const secret = textAt((await own.send('POST', '/api/v1/auth/people/totp/setup')).json, 'secret');
    await own.post('/api/v1/auth/people/totp/confirm', { code: totpCode(secret, -1) }, 200);
    const merge_token = await mergeTokenFor(person);
    const first = await merge({ merge_token, password });
    assert.deepEqual(differences(first.json, { data: { mfa_required: true, mfa_token: is.text } }), []);
    assert.equal(at((await signIn(person)).json, 'merge_required'), true, 'nothing is linked yet');
    const finish = (answer: Answer, code: string) =>
      guest.send('POST', '/api/v1/auth/people/login/mfa', {
        body: { mfa_token: at(answer.json, 'data.mfa_token'), code },
      });
    assert.equal(statusOf(await finish(first, wrongTotpCode(secret))), 401);
    const done = await finish(first, totpCode(secret));
    assert.equal(done.status, 200, done.text);
    assert.deepEqual(
      differences(done.json, { data: { token: is.text, record: is.containing({ id }), linked_provider: provider } }),
      [],
    );
    const next = await signIn(person);
    assert.deepEqual(differences(next.json, { data: { mfa_required: true, mfa_token: is.text } }), []);
    const last = await finish(next, totpCode(secret, 1));
    assert.deepEqual(differences(last.json, { data: { token: is.text, record: is.containing({ id }) } }), []);
  });

  await t.test('a link can be removed by its owner, unless nothing else lets them in', async () => {
    const person = newPerson('wim');
    const { token: stranger } = await register('stranger@example.com');
    const only = textAt((await signIn(person)).json, 'data.token');
    assert.equal(statusOf(await unlink(stranger)), 404, 'there is none of theirs');
    const last = await unlink(only);
    assert.equal(last.status, 409);
    assert.equal(textAt(last.json, 'code'), 'last_way_in');
    const { id, token } = await register('xia@example.com');
    const merged = newPerson('xia');
    await merge({ merge_token: await mergeTokenFor(merged), password });
    assert.equal(textAt((await signIn(merged)).json, 'data.record.id'), id);
    const answers = await Promise.all([unlink(token), unlink(token)]);
    assert.deepEqual(answers.map(statusOf).sort(), [200, 404]);
    assert.deepEqual(answers.find(({ status }) => status === 200)?.json, { data: { unlinked: 'oidc' } });
    assert.equal(at((await signIn(merged)).json, 'merge_required'), true);
    assert.equal(statusOf(await as(only).send('DELETE', `${path}/myspace/unlink`)), 404);
  });

  await t.test(
    'who proves an address that somebody else had written into their account gets it without their links',
    async () => {
      await using mail = await startMailServer();
      await admin.patch('/api/v1/admin/settings', mail.settings);
      const intruder = { id: randomUUID() };
      const first = await signIn(intruder);
      const id = textAt(first.json, 'data.record.id');
      const email = 'victim@example.com';
      await as(textAt(first.json, 'data.token')).patch(`/api/v1/people/${id}`, { email });
      const reset = await eventually('the reset is mailed', async () => {
        await guest.post('/api/v1/auth/people/request-password-reset', { email }, 200);
        return mail.mailTo(email, { subject: 'Reset your password' });
      });
      await guest.post('/api/v1/auth/people/confirm-password-reset', { token: reset.token, password }, 200);
      assert.notEqual(textAt((await signIn(intruder)).json, 'data.record.id'), id);
      const owner = await guest.post('/api/v1/auth/people/login', { email, password }, 200);
      assert.equal(textAt(owner, 'record.id'), id);
      assert.equal(statusOf(await unlink(textAt(owner, 'token'))), 404);
      await admin.patch('/api/v1/admin/settings', { 'smtp.enabled': '' });
    },
  );

  await t.test('an admin who acts as a user can’t confirm for them', async () => {
    const { id, token } = await register('abe@example.com');
    const merge_token = await mergeTokenFor(newPerson('abe'));
    const borrowed = await admin.post(`/api/v1/admin/impersonate/people/${id}`, {}, 200);
    assert.equal(statusOf(await merge({ merge_token }, as(textAt(borrowed, 'token')))), 403);
    assert.equal(statusOf(await merge({ merge_token }, as(token))), 200);
    await as(token).delete(`${path}/oidc/unlink`);
    const { json } = await admin.get('/api/v1/admin/audit?perPage=200');
    const rows = listAt(json, 'data').filter(({ target_id }) => target_id === id);
    const details = { collection: 'people', provider };
    assert.deepEqual(
      rows.filter(({ actor_id }) => actor_id === id).map(({ action, details }) => ({ action, details })),
      [
        { action: 'users.oauth_unlink', details },
        { action: 'users.oauth_link', details },
      ],
    );
  });

  const una = newPerson('una');
  const rows = [
    { name: 'a new user is a record like others: its event fires', events: ['people.create'] },
    { name: 'and fires once', events: [] },
  ];
  await runScenarios(
    t,
    target,
    await Promise.all(
      rows.map(async (row) => ({
        ...row,
        request: `POST ${path}/exchange`,
        body: await visit(una),
        expect: { status: 200 },
        spec: 'interface §6.1',
      })),
    ),
  );

  await t.test('a user who is deleted leaves no link behind', async () => {
    const person = newPerson('yan');
    const first = await signIn(person);
    const id = textAt(first.json, 'data.record.id');
    await as(textAt(first.json, 'data.token')).delete(`/api/v1/people/${id}`);
    const second = await signIn(person);
    assert.equal(second.status, 200, second.text);
    assert.notEqual(textAt(second.json, 'data.record.id'), id);
  });

  await t.test('the lockout covers confirming by password', async () => {
    await register('zoe@example.com');
    const merge_token = await mergeTokenFor(newPerson('zoe'));
    await admin.patch('/api/v1/admin/settings', { 'auth.lockout.max_attempts': '2' });
    const login = () =>
      guest.send('POST', '/api/v1/auth/people/login', { body: { email: 'zoe@example.com', password: 'x' } });
    while (statusOf(await login()) !== 429);
    const answer = await merge({ merge_token, password });
    assert.equal(answer.status, 429);
    assert.ok(Number(answer.headers['retry-after']) > 0);
    await admin.patch('/api/v1/admin/settings', { 'auth.lockout.max_attempts': '' });
  });

  await t.test(
    'a collection that asks for more than an address gets it from the app, but no address and no proof',
    async () => {
      await admin.post('/api/v1/collections', {
        name: 'strict',
        type: 'auth',
        fields: [{ name: 'country', type: 'text', required: true }],
      });
      const enter = async (person: Person, record: object): Promise<Answer> => {
        const body = { ...(await visit(person)), record };
        return guest.send('POST', '/api/v1/auth/strict/oauth2/exchange', { body });
      };
      const person = newPerson('adi');
      const bad = await enter(person, { password, colour: 'red' });
      assert.equal(bad.status, 422);
      assert.deepEqual(differences(bad.json, refused.invalid('country', 'password', 'colour').json), []);
      const good = await enter(person, { country: 'CH', email: 'victim@example.com', verified: true });
      const { id } = objectAt(good.json, 'data.record');
      const expected = { id: is.uuidV7, country: 'CH', email: `oidc_${id}@users.invalid`, verified: false };
      assert.deepEqual(differences(good.json, { data: { token: is.text, record: is.containing(expected) } }), []);
      assert.equal(textAt((await enter(person, {})).json, 'data.record.id'), id, 'who is known needs nothing more');
    },
  );
});
