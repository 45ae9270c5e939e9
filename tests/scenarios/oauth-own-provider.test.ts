import assert from 'node:assert/strict';
import { at, textAt } from '../harness/json.ts';
import { differences, is } from '../harness/matching.ts';
import { loggedErrors } from '../harness/processes/logs.ts';
import { type CannedAnswer, startCannedServer } from '../harness/servers/canned-server.ts';
import { redirectUri } from '../harness/servers/oidc-server.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

const queryOf = (members: Readonly<Record<string, string>>): string => new URLSearchParams(members).toString();

/** The profile that the stand-in for GitLab returns. */
const gus = { id: 7, username: 'gus', email: 'gus@example.com', confirmed_at: '2012-05-23T09:05:22Z' };
const granted = { body: JSON.stringify({ access_token: 'a-token', token_type: 'Bearer' }) };
const page = '<!doctype html><title>503</title>';

onEachTopology('a provider at its own address', async (t, target) => {
  const admin = await target.admin();
  const { guest } = target;
  await admin.post('/api/v1/collections', { name: 'coders', type: 'auth', fields: [] });
  await using server = await startCannedServer();
  const settings = {
    'hooks.http.allow': '127.0.0.1',
    'oauth2.gitlab.enabled': '1',
    'oauth2.gitlab.client_id': 'an-id',
    'oauth2.gitlab.client_secret': 'a-secret',
    'oauth2.gitlab.endpoint': `${server.url}/git/`,
  };
  await admin.patch('/api/v1/admin/settings', settings);
  const credentials = { provider: 'gitlab', redirectUri, code: 'a-code' };
  const exchange = () => guest.send('POST', '/api/v1/auth/coders/oauth2/exchange', { body: credentials });
  const both = (token: CannedAnswer, user: CannedAnswer = { body: JSON.stringify(gus) }) =>
    server.answer({ '/git/oauth/token': token, '/git/api/v4/user': user });

  await t.test('signs users in', async () => {
    const query = queryOf({ provider: 'gitlab', redirectUri, state: 's p&a=c', use_pkce: '0' });
    const { json } = await guest.send('GET', `/api/v1/auth/coders/oauth2/authorize?${query}`);
    const back = encodeURIComponent(redirectUri);
    assert.equal(
      at(json, 'data.authorize_url'),
      `${server.url}/git/oauth/authorize?response_type=code&client_id=an-id&redirect_uri=${back}&scope=read_user&state=s%20p%26a%3Dc`,
    );
    both(granted);
    const answer = await exchange();
    assert.equal(answer.status, 200, answer.text);
    assert.match(textAt(answer.json, 'data.record.email'), /^gitlab_.*@users\.invalid$/);
    const form = { grant_type: 'authorization_code', code: 'a-code', redirect_uri: redirectUri };
    assert.deepEqual(server.received, [
      `POST /git/oauth/token ${queryOf({ ...form, client_id: 'an-id', client_secret: 'a-secret' })}`,
      'GET /git/api/v4/user',
    ]);
  });

  await t.test('an admin removes a link, but not the only way in [admins §8.3]', async () => {
    both(granted);
    const id = textAt((await exchange()).json, 'data.record.id');
    const one = `/api/v1/admin/users/coders/${id}`;
    const { json } = await admin.get(one);
    assert.deepEqual(
      [
        at(json, 'data.has_password'),
        differences(at(json, 'data.links'), [{ provider: 'gitlab', created_at: is.now }]),
      ],
      [false, []],
    );
    const kept = await admin.send('DELETE', `${one}/links/gitlab`);
    assert.deepEqual([kept.status, at(kept.json, 'code')], [409, 'last_way_in']);
    await admin.patch(`/api/v1/records/coders/${id}`, { password: 'a long enough password' });
    const removed = await admin.send('DELETE', `${one}/links/gitlab`);
    assert.deepEqual([removed.status, at(removed.json, 'data.links')], [200, []]);
    assert.equal((await admin.send('DELETE', `${one}/links/gitlab`)).status, 404);
    await admin.delete(`/api/v1/records/coders/${id}`);
  });

  await t.test('250,000 dots are not taken for an address [cost §4.1]', async () => {
    both(granted, { body: JSON.stringify({ ...gus, id: 8, email: `a@${'.'.repeat(250_000)}@` }) });
    const { status, json, text } = await exchange();
    assert.equal(status, 200, text.slice(0, 200));
    assert.equal(at(json, 'data.profile.email'), null);
    assert.match(textAt(json, 'data.record.email'), /^gitlab_.*@users\.invalid$/);
  });

  const refusals: readonly (readonly [name: string, answers: () => void, words: string])[] = [
    ['refuses the code', () => both({ status: 400, body: '{"error":"invalid_grant"}' }), 'invalid_grant'],
    [
      'refuses the code with 200',
      () => both({ body: '{"error":"bad a-secret","error_description":"a-code"}' }),
      'bad …: …',
    ],
    ['refuses the code with a page', () => both({ status: 403, body: page }), 'status 403'],
    ['refuses the profile', () => both(granted, { status: 401, body: '{"message":"401 a-token"}' }), '401 …'],
    ['returns an empty profile', () => both(granted, { body: '{}' }), 'the profile has no usable id'],
  ];
  for (const [name, answers, words] of refusals)
    await t.test(`422: it ${name} [oauth §7]`, async () => {
      answers();
      const { status, json } = await exchange();
      assert.equal(status, 422);
      assert.deepEqual(differences(json, { error: is.text, code: 'oauth_refused', details: { provider: words } }), []);
    });

  const failures: readonly (readonly [name: string, answers: () => void])[] = [
    ['is down', () => both({ status: 503, body: page })],
    ['answers with a page', () => both({ body: page })],
    [
      'redirects to another address',
      () => both({ status: 307, body: '', headers: { Location: `${server.url}/elsewhere` } }),
    ],
    ['cuts the connection', () => both('cut')],
    ['returns no token', () => both({ body: '{}' })],
    ['answers more than a mebibyte', () => both({ body: ' '.repeat(1024 * 1024 + 1) })],
    ['returns a page instead of the profile', () => both(granted, { body: page })],
  ];
  for (const [name, answers] of failures)
    await t.test(`502: it ${name} [oauth §7]`, async () => {
      answers();
      const { status, json } = await exchange();
      assert.deepEqual(differences(json, { error: is.text, code: 'oauth_provider_failed' }), []);
      assert.equal(status, 502);
      assert.ok(!server.received.some((request) => request.includes('elsewhere')));
    });

  await t.test('502: a denied address is not called [oauth §1.6, §7]', async () => {
    await admin.patch('/api/v1/admin/settings', { 'hooks.http.allow': '' });
    both(granted);
    const { status, text } = await exchange();
    assert.equal(status, 502);
    assert.ok(!text.includes('127.0.0.1'), 'the answer does not contain the address');
    assert.deepEqual(server.received, []);
    await admin.patch('/api/v1/admin/settings', { 'hooks.http.allow': '127.0.0.1' });
  });

  await t.test('another host or path under the same name is another provider [oauth §6.2]', async () => {
    const idAt = async (path: string) => {
      await admin.patch('/api/v1/admin/settings', { 'oauth2.gitlab.endpoint': `${server.url}${path}` });
      const user = { body: JSON.stringify(gus) };
      server.answer({ [`${path}/oauth/token`]: granted, [`${path}/api/v4/user`]: user });
      const answer = await exchange();
      assert.equal(answer.status, 200, answer.text);
      return textAt(answer.json, 'data.record.id');
    };
    const [first, elsewhere] = [await idAt('/git'), await idAt('/other')];
    assert.notEqual(elsewhere, first);
    assert.deepEqual([await idAt('/git'), await idAt('/other')], [first, elsewhere]);
  });

  await t.test('the answer has the profile next to the record [oauth §3.4]', async () => {
    await admin.patch('/api/v1/admin/settings', { 'oauth2.gitlab.endpoint': `${server.url}/git` });
    both(granted, { body: JSON.stringify({ ...gus, name: 'Gus', avatar_url: 'javascript:alert(1)' }) });
    const { json } = await exchange();
    assert.deepEqual(at(json, 'data.profile'), {
      provider: 'gitlab',
      id: '7',
      email: 'gus@example.com',
      email_verified: true,
      name: 'Gus',
      username: 'gus',
      avatar_url: null,
    });
  });

  await t.test('a new account gets the fields and the address that the settings map [oauth §4.2, §4.3]', async () => {
    const fields = [
      { name: 'handle', type: 'text', options: { max: 5 } },
      { name: 'label', type: 'text' },
      { name: 'picture', type: 'url' },
    ];
    await admin.post('/api/v1/collections', { name: 'takers', type: 'auth', fields });
    const map = { handle: 'username', label: 'name', picture: 'avatar_url' };
    const refusals = { ...map, email: 'email' };
    const wrong = await admin.send('PATCH', '/api/v1/admin/settings', {
      body: { 'oauth2.profile.takers': JSON.stringify(refusals) },
    });
    assert.equal(wrong.status, 422);
    await admin.patch('/api/v1/admin/settings', {
      'oauth2.profile.takers': JSON.stringify(map),
      'oauth2.verified_email.takers': '1',
    });
    const signIn = async (person: object, record: object = {}) => {
      both(granted, { body: JSON.stringify({ ...gus, ...person }) });
      const body = { ...credentials, record };
      return (await guest.send('POST', '/api/v1/auth/takers/oauth2/exchange', { body })).json;
    };
    const first = await signIn({ id: 21, name: 'Ann', username: 'too long', avatar_url: 'https://x.example/a.png' });
    assert.deepEqual(
      differences(
        at(first, 'data.record'),
        is.containing({
          email: gus.email,
          verified: true,
          handle: null,
          label: 'Ann',
          picture: 'https://x.example/a.png',
        }),
      ),
      [],
    );
    const unverified = await signIn({ id: 22, confirmed_at: null, username: 'bob' }, { label: 'by the app' });
    assert.deepEqual(
      differences(
        at(unverified, 'data.record'),
        is.containing({ verified: false, email: is.matching(/@users\.invalid$/), handle: 'bob', label: 'by the app' }),
      ),
      [],
    );
    assert.equal(at(await signIn({ id: 23 }), 'merge_required'), true, 'a user has the address');
  });

  await t.test('several OpenID providers work side by side [oauth §1.4]', async () => {
    const set = (name: string, members: Readonly<Record<string, string>>) =>
      admin.patch(
        '/api/v1/admin/settings',
        Object.fromEntries(
          Object.entries({ enabled: '1', client_id: 'id', client_secret: 'a-secret', ...members }).map(
            ([key, text]) => [`oauth2.providers.oidc.${name}.${key}`, text],
          ),
        ),
      );
    await set('one', { issuer: `${server.url}/one`, display_name: 'One' });
    await set('two', { issuer: `${server.url}/two/` });
    const { json: listed } = await guest.get('/api/v1/auth/coders/oauth2/providers');
    assert.deepEqual(at(listed, 'data'), [
      { name: 'gitlab', displayName: 'GitLab' },
      { name: 'oidc.one', displayName: 'One' },
      { name: 'oidc.two', displayName: 'two' },
    ]);
    const documentOf = (realm: string, issuer: string) => ({
      body: JSON.stringify({
        issuer,
        authorization_endpoint: `${server.url}/${realm}/auth`,
        token_endpoint: `${server.url}/${realm}/token`,
        userinfo_endpoint: `${server.url}/${realm}/me`,
      }),
    });
    const signIn = async (realm: string, issuer = `${server.url}/${realm}`) => {
      server.answer({
        [`/${realm}/.well-known/openid-configuration`]: documentOf(realm, issuer),
        [`/${realm}/token`]: granted,
        [`/${realm}/me`]: { body: JSON.stringify({ sub: 'same', preferred_username: realm }) },
      });
      const body = { ...credentials, provider: `oidc.${realm}` };
      return guest.send('POST', '/api/v1/auth/coders/oauth2/exchange', { body });
    };
    const first = await signIn('one');
    assert.equal(at(first.json, 'data.profile.username'), 'one', first.text);
    const refused = await signIn('two', `${server.url}/one`);
    assert.equal(at(refused.json, 'code'), 'oauth_provider_misconfigured', 'the document names another issuer');
    const second = await signIn('two', `${server.url}/two/`);
    assert.notEqual(textAt(second.json, 'data.record.id'), textAt(first.json, 'data.record.id'));
    const query = queryOf({ provider: 'oidc.one', redirectUri, state: 's' });
    // Another replica may not have read the document yet.
    server.answer({ '/one/.well-known/openid-configuration': documentOf('one', `${server.url}/one`) });
    const { json } = await guest.get(`/api/v1/auth/coders/oauth2/authorize?${query}`);
    assert.ok(textAt(json, 'data.authorize_url').startsWith(`${server.url}/one/auth?`));
    assert.equal((await signIn('three')).status, 422, 'the provider is not configured');
  });

  await t.test('no error and no secret is logged', () => {
    assert.deepEqual(loggedErrors(target.logLines), []);
    const secret = /a-secret|a-code|a-token/;
    assert.deepEqual(
      target.logLines.filter((line) => secret.test(line)),
      [],
    );
  });
});
