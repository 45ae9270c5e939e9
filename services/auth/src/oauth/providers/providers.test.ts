import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createLogger } from '@recordbus/process/logging';
import { type OauthProviderName, oauthProviderNames, type SettingKey } from '@recordbus/settings';
import { fixedSettings } from '@recordbus/settings/testing';
import { oauthProviderCases } from '../../testing/oauth-provider-cases.ts';
import { openidProviderCases } from '../../testing/openid-provider-cases.ts';
import { clientId, clientSecret, type ProviderCase } from '../../testing/provider-case.ts';
import { startProviderHosts } from '../../testing/provider-hosts.ts';
import { createOauthProviders } from '../oauth-providers.ts';

const hosts = await startProviderHosts();
after(() => hosts[Symbol.asyncDispose]());

const basic = `Basic ${Buffer.from('our-id:our%2Fsecret%2B').toString('base64')}`;
const grant = { code: 'the-code', redirectUri: 'https://app.example.com/back', codeVerifier: 'v'.repeat(43) };
const grantForm = {
  grant_type: 'authorization_code',
  code: grant.code,
  redirect_uri: grant.redirectUri,
  code_verifier: grant.codeVerifier,
};
const credentials = { client_id: clientId, client_secret: clientSecret };
const bearer = { token_type: 'bearer', access_token: 'the-token' };

/** Apple's answers are signed; it has its own test file. */
const table: Record<Exclude<OauthProviderName, 'apple'>, ProviderCase> = {
  ...openidProviderCases,
  ...oauthProviderCases,
};

const names = oauthProviderNames.filter((name) => name !== 'apple');

function providerOf(name: OauthProviderName, settings: Partial<Record<SettingKey, string>> = {}) {
  const providers = createOauthProviders({
    settings: fixedSettings({
      [`oauth2.${name}.enabled`]: '1',
      [`oauth2.${name}.client_id`]: clientId,
      [`oauth2.${name}.client_secret`]: clientSecret,
      ...settings,
    }),
    client: hosts.client,
    log: createLogger('test', 'silent'),
    nowSec: () => 1_800_000_000,
  });
  return providers.get(name);
}

for (const name of names) {
  const { settings, authorizeUrl, token, answers, tokenMembers, identity, variants = [], checkRequest } = table[name];
  const tokenRequest = `POST ${token.url}`;

  test(`${name}: the authorize URL has every parameter`, async () => {
    const provider = await providerOf(name, settings);
    const url = await provider.authorizeUrl({
      redirectUri: grant.redirectUri,
      state: 'a b&c',
      codeChallenge: undefined,
    });
    const expected = new URL(authorizeUrl);
    const common = { response_type: 'code', client_id: clientId, redirect_uri: grant.redirectUri, state: 'a b&c' };
    const actual = new URL(url);
    assert.equal(actual.origin + actual.pathname, expected.origin + expected.pathname);
    assert.deepEqual(Object.fromEntries(actual.searchParams), {
      ...Object.fromEntries(expected.searchParams),
      ...common,
    });
    assert.ok(!url.includes('+'), 'spaces are %20');
    assert.ok(url.includes('state=a%20b%26c'), 'a value of the caller does not add a parameter');
  });

  test(`${name}: the identity comes from the profile`, async () => {
    const provider = await providerOf(name, settings);
    hosts.answer({ ...answers, [tokenRequest]: { json: { ...bearer, ...tokenMembers } } });
    const { profile: _, ...found } = await provider.identify(grant);
    assert.deepEqual(found, { provider: name, issuer: token.url, ...identity });
    const [exchange, ...profile] = hosts.received;
    assert.equal(exchange?.request, tokenRequest);
    assert.equal(exchange?.headers.accept, 'application/json');
    assert.equal(exchange?.headers.authorization, token.proof === 'form' ? undefined : basic);
    const sent =
      token.proof === 'basic_json'
        ? JSON.parse(exchange?.body ?? '')
        : Object.fromEntries(new URLSearchParams(exchange?.body));
    assert.deepEqual(sent, { ...grantForm, ...(token.proof === 'form' && credentials) });
    assert.deepEqual(
      profile.map(({ request, headers }) => [request.replace(/\?.*/, ''), headers.authorization]),
      Object.keys(answers).map((request) => [request, 'Bearer the-token']),
    );
    for (const { headers, request } of profile) checkRequest?.(headers, request.replace('GET ', ''));
  });

  for (const [what, change, expected] of variants)
    test(`${name}: the identity with ${what}`, async () => {
      const provider = await providerOf(name, settings);
      hosts.answer({
        ...answers,
        ...change.answers,
        [tokenRequest]: { json: { ...bearer, ...(change.tokenMembers ?? tokenMembers) } },
      });
      const { profile: _, ...found } = await provider.identify(grant);
      assert.deepEqual(found, { provider: name, issuer: token.url, ...expected });
    });

  test(`${name}: without a challenge no verifier is sent`, async () => {
    const provider = await providerOf(name, settings);
    hosts.answer({ ...answers, [tokenRequest]: { json: { ...bearer, ...tokenMembers } } });
    await provider.identify({ ...grant, codeVerifier: undefined });
    assert.ok(!hosts.received[0]?.body.includes('code_verifier'));
  });

  test(`${name}: an empty profile is refused`, async () => {
    const provider = await providerOf(name, settings);
    const nothing = Object.fromEntries(Object.keys(answers).map((request) => [request, { json: {} }]));
    hosts.answer({ ...nothing, [tokenRequest]: { json: bearer } });
    await assert.rejects(provider.identify(grant), {
      status: 422,
      details: { provider: 'the profile has no usable id' },
    });
  });
}

test('oidc: a client that is refused with Basic sends its credentials in the form [oauth §1.4]', async () => {
  const { settings, answers } = table.oidc;
  const provider = await providerOf('oidc', settings);
  const token = 'POST https://id.example.com/token';
  hosts.answer({ ...answers, [token]: { status: 401, json: { error: 'invalid_client' } } });
  await assert.rejects(provider.identify(grant), { status: 422, details: { provider: 'invalid_client' } });
  const [first, second, ...others] = hosts.received;
  assert.deepEqual([first?.headers.authorization, second?.headers.authorization, others.length], [basic, undefined, 0]);
  assert.deepEqual(Object.fromEntries(new URLSearchParams(second?.body)), { ...grantForm, ...credentials });
});

test('a provider is listed when all its required settings are set [oauth §1.2]', async () => {
  const complete: Partial<Record<SettingKey, string>> = {
    ...table.oidc.settings,
    'oauth2.oidc.enabled': '1',
    'oauth2.oidc.client_id': 'id',
    'oauth2.oidc.client_secret': 'secret',
    'oauth2.apple.enabled': '1',
    'oauth2.apple.client_id': 'id',
    'oauth2.apple.team_id': 'ABCDE12345',
    'oauth2.apple.key_id': 'KEY',
    'oauth2.apple.private_key': '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----',
  };
  const listed = async (settings: Partial<Record<SettingKey, string>>) => {
    const deps = { client: hosts.client, log: createLogger('test', 'silent'), nowSec: () => 0 };
    const list = await createOauthProviders({ ...deps, settings: fixedSettings(settings) }).list();
    return list.map(({ name, displayName }) => [name, displayName]);
  };
  const both = [
    ['apple', 'Apple'],
    ['oidc', 'Company login'],
  ];
  assert.deepEqual(await listed(complete), both);
  for (const key of Object.keys(complete).filter((key) => !/scopes|display_name/.test(key)) as SettingKey[]) {
    const { [key]: _, ...rest } = complete;
    assert.deepEqual(
      await listed(rest),
      both.filter(([name]) => !key.includes(`.${name}.`)),
      `without ${key}`,
    );
  }
});
