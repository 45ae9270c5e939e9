import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createLogger } from '@recordbus/process/logging';
import { fixedSettings } from '@recordbus/settings/testing';
import { type HostAnswer, startProviderHosts } from '../testing/provider-hosts.ts';
import { createOauthProviders } from './oauth-providers.ts';

const hosts = await startProviderHosts();
after(() => hosts[Symbol.asyncDispose]());

const tokenUrl = 'POST https://oauth2.googleapis.com/token';
const profileUrl = 'GET https://openidconnect.googleapis.com/v1/userinfo';
const bearer: HostAnswer = { json: { access_token: 'the-token' } };
const profile: HostAnswer = { json: { sub: '1' } };
const grant = { code: 'the-code', redirectUri: 'https://app.example.com/', codeVerifier: 'v'.repeat(43) };

const identify = async () => {
  const settings = fixedSettings({
    'oauth2.google.enabled': '1',
    'oauth2.google.client_id': 'id',
    'oauth2.google.client_secret': 'our/secret',
  });
  const deps = { settings, client: hosts.client, log: createLogger('test', 'silent'), nowSec: () => 0 };
  return (await createOauthProviders(deps).get('google')).identify(grant);
};

const refused = (words: string) => ({ status: 422, code: 'oauth_refused', details: { provider: words } });
const failed = { status: 502, code: 'oauth_provider_failed', details: undefined };
const html = '<!doctype html><title>Login</title><script>alert(1)</script>';

/** Failures at the token endpoint, and the errors for the caller (oauth §7). */
const atTokenEndpoint: readonly (readonly [string, HostAnswer, object])[] = [
  [
    '400 with code and sentence',
    { status: 400, json: { error: 'invalid_grant', error_description: 'Bad Request' } },
    refused('invalid_grant: Bad Request'),
  ],
  [
    '200 with an error (GitHub)',
    { json: { error: 'bad_verification_code', error_description: 'The code has expired.' } },
    refused('bad_verification_code: The code has expired.'),
  ],
  ['200 that is not ok (Slack)', { json: { ok: false, error: 'invalid_code' } }, refused('invalid_code')],
  [
    'an error in an object (Facebook)',
    { status: 400, json: { error: { type: 'OAuthException', code: 100, message: 'Invalid code' } } },
    refused('OAuthException: Invalid code'),
  ],
  [
    'a message (Twitch)',
    { status: 400, json: { status: 400, message: 'Invalid authorization code' } },
    refused('Invalid authorization code'),
  ],
  [
    'a list of errors (Patreon, X)',
    { status: 401, json: { errors: [{ title: 'Unauthorized', detail: 'no such code' }] } },
    refused('Unauthorized: no such code'),
  ],
  ['4xx without JSON', { status: 403, body: html }, refused('status 403')],
  ['4xx with JSON that is not an object', { status: 400, body: 'null' }, refused('status 400')],
  ['words that are too long', { status: 400, json: { error: 'x'.repeat(100_000) } }, refused('x'.repeat(500))],
  [
    'words with line breaks',
    { status: 400, json: { error: 'a\r\nSet-Cookie: b\u0000\u2028c' } },
    refused('a Set-Cookie: b c'),
  ],
  [
    'words that repeat secrets of the request',
    { status: 400, json: { error: 'the-code our/secret our%2Fsecret vvv', error_description: 'v'.repeat(43) } },
    refused('… … … vvv: …'),
  ],
  ['5xx', { status: 503, json: { error: 'server_error' } }, failed],
  ['a redirect', { status: 302, body: '', headers: { Location: 'http://169.254.169.254/' } }, failed],
  ['HTML', { body: html, headers: { 'Content-Type': 'text/html' } }, failed],
  ['nothing', { body: '' }, failed],
  ['a form', { body: 'access_token=x' }, failed],
  ['JSON that is not an object', { body: '"token"' }, failed],
  ['no token', { json: { token_type: 'bearer' } }, failed],
  ['a token that is not text', { json: { access_token: { a: 1 } } }, failed],
  ['a token with a line break', { json: { access_token: 'a\r\nHost: evil' } }, failed],
  ['a token that is too long', { json: { access_token: 'x'.repeat(100_000) } }, failed],
  ['JSON that is nested too deep', { body: '['.repeat(500_000) }, failed],
  ['no answer', 'hang', failed],
  ['a closed connection', 'reset', failed],
  ['megabytes', 'flood', failed],
  ['a byte at a time', 'drip', failed],
];

for (const [what, answer, error] of atTokenEndpoint)
  test(`the token endpoint answers ${what}`, async () => {
    hosts.answer({ [tokenUrl]: answer, [profileUrl]: profile });
    await assert.rejects(identify(), error);
    assert.equal(hosts.received.length, 1, 'no other request is made');
  });

const atUserinfo: readonly (readonly [string, HostAnswer, object])[] = [
  ['401', { status: 401, json: { error: { status: 401, message: 'Invalid the-token' } } }, refused('Invalid …')],
  ['200 with an error', { json: { ok: false, error: 'not_authed' } }, refused('not_authed')],
  ['no id', { json: { name: 'Ann' } }, refused('the profile has no usable id')],
  ['an empty id', { json: { sub: '' } }, refused('the profile has no usable id')],
  ['an id that is an object', { json: { sub: { toString: 'x' } } }, refused('the profile has no usable id')],
  ['an id that is not a whole number', { body: '{"sub": 1.5}' }, refused('the profile has no usable id')],
  ['an id that is a number in another form', { body: '{"sub": 1e20}' }, refused('the profile has no usable id')],
  ['an id of too many digits', { body: `{"sub": ${'9'.repeat(256)}}` }, refused('the profile has no usable id')],
  ['an id with a NUL', { json: { sub: 'a\u0000' } }, refused('the profile has no usable id')],
  ['an id that is too long', { json: { sub: 'x'.repeat(256) } }, refused('the profile has no usable id')],
  ['a list', { json: [{ sub: '1' }] }, refused('the profile has no usable id')],
  ['5xx', { status: 500, body: html }, failed],
  ['HTML', { body: html }, failed],
  ['a redirect', { status: 301, body: '', headers: { Location: 'https://evil.example.com/' } }, failed],
  ['no answer', 'hang', failed],
  ['megabytes', 'flood', failed],
];

for (const [what, answer, error] of atUserinfo)
  test(`the profile is ${what}`, async () => {
    hosts.answer({ [tokenUrl]: bearer, [profileUrl]: answer });
    await assert.rejects(identify(), error);
  });

test('an id above 2^53 is kept as its digits [oauth §3.1]', async () => {
  for (const id of ['9007199254740993', '12345678901234567890', '9'.repeat(255)]) {
    hosts.answer({ [tokenUrl]: bearer, [profileUrl]: { body: `{"sub": ${id}, "name": "Ann"}` } });
    assert.equal((await identify()).providerUserId, id);
  }
});

test('members that every object inherits are not a profile', async () => {
  hosts.answer({ [tokenUrl]: bearer, [profileUrl]: { body: '{"__proto__": {"sub": "1"}}' } });
  await assert.rejects(identify(), refused('the profile has no usable id'));
});
