import assert from 'node:assert/strict';
import { type CannedAnswer, startCannedServer } from '../harness/canned-server.ts';
import { at, textAt } from '../harness/json.ts';
import { loggedErrors } from '../harness/logs.ts';
import { differences, is } from '../harness/matching.ts';
import { redirectUri } from '../harness/oidc-server.ts';
import { onEachTopology } from '../harness/target.ts';

const queryOf = (members: Readonly<Record<string, string>>): string => new URLSearchParams(members).toString();

/** Whom the stand-in for GitLab says that everybody is. */
const gus = { id: 7, username: 'gus', email: 'gus@example.com', confirmed_at: '2012-05-23T09:05:22Z' };
const granted = { body: JSON.stringify({ access_token: 'a-token', token_type: 'Bearer' }) };
const page = '<!doctype html><title>503</title>';

onEachTopology('a provider of somebody’s own', async (t, target) => {
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
  const brought = { provider: 'gitlab', redirectUri, code: 'a-code' };
  const exchange = () => guest.send('POST', '/api/v1/auth/coders/oauth2/exchange', { body: brought });
  const both = (token: CannedAnswer, user: CannedAnswer = { body: JSON.stringify(gus) }) =>
    server.answer({ '/git/oauth/token': token, '/git/api/v4/user': user });

  await t.test('signs people in', async () => {
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
    assert.deepEqual(server.asked, [
      `POST /git/oauth/token ${queryOf({ ...form, client_id: 'an-id', client_secret: 'a-secret' })}`,
      'GET /git/api/v4/user',
    ]);
  });

  const refusals: readonly (readonly [name: string, answers: () => void, words: string])[] = [
    ['says no', () => both({ status: 400, body: '{"error":"invalid_grant"}' }), 'invalid_grant'],
    ['says no with 200', () => both({ body: '{"error":"bad a-secret","error_description":"a-code"}' }), 'bad …: …'],
    ['says no with a page', () => both({ status: 403, body: page }), 'status 403'],
    ['does not show the profile', () => both(granted, { status: 401, body: '{"message":"401 a-token"}' }), '401 …'],
    ['shows nobody', () => both(granted, { body: '{}' }), 'the profile has no usable id'],
  ];
  for (const [name, answers, words] of refusals)
    await t.test(`422: it ${name} [contract §4, provider errors]`, async () => {
      answers();
      const { status, json } = await exchange();
      assert.equal(status, 422);
      assert.deepEqual(differences(json, { error: is.text, code: 'oauth_refused', details: { provider: words } }), []);
    });

  const failures: readonly (readonly [name: string, answers: () => void])[] = [
    ['is down', () => both({ status: 503, body: page })],
    ['answers with a page', () => both({ body: page })],
    ['sends us elsewhere', () => both({ status: 307, body: '', headers: { Location: `${server.url}/elsewhere` } })],
    ['cuts the connection', () => both('cut')],
    ['gives no token', () => both({ body: '{}' })],
    ['answers more than a mebibyte', () => both({ body: ' '.repeat(1024 * 1024 + 1) })],
    ['has no profile but a page', () => both(granted, { body: page })],
  ];
  for (const [name, answers] of failures)
    await t.test(`502: it ${name} [contract §4, provider errors]`, async () => {
      answers();
      const { status, json } = await exchange();
      assert.deepEqual(differences(json, { error: is.text, code: 'oauth_provider_failed' }), []);
      assert.equal(status, 502);
      assert.ok(!server.asked.some((request) => request.includes('elsewhere')));
    });

  await t.test('502: where calls may not go, none goes [contract §4]', async () => {
    await admin.patch('/api/v1/admin/settings', { 'hooks.http.allow': '' });
    both(granted);
    const { status, text } = await exchange();
    assert.equal(status, 502);
    assert.ok(!text.includes('127.0.0.1'), 'nor does the caller learn where that is');
    assert.deepEqual(server.asked, []);
    await admin.patch('/api/v1/admin/settings', { 'hooks.http.allow': '127.0.0.1' });
  });

  await t.test('nothing was logged as an error, and nothing that is secret at all', () => {
    assert.deepEqual(loggedErrors(target.logLines), []);
    const secret = /a-secret|a-code|a-token/;
    assert.deepEqual(
      target.logLines.filter((line) => secret.test(line)),
      [],
    );
  });
});
