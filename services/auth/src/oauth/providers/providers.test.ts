import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, test } from 'node:test';
import { type OauthProviderName, oauthProviderNames, type SettingKey } from '@recordbus/settings';
import { fixedSettings } from '@recordbus/settings/testing';
import { createLogger } from '@recordbus/shared/logging';
import { UnsecuredJWT } from 'jose';
import { type HostAnswer, startProviderHosts } from '../../testing/provider-hosts.ts';
import { createOauthProviders } from '../oauth-providers.ts';

const hosts = await startProviderHosts();
after(() => hosts[Symbol.asyncDispose]());

const clientId = 'our-id';
const clientSecret = 'our/secret+';
const basic = `Basic ${Buffer.from('our-id:our%2Fsecret%2B').toString('base64')}`;
const grant = { code: 'the-code', redirectUri: 'https://app.example.com/back', codeVerifier: 'v'.repeat(43) };
const formOfGrant = {
  grant_type: 'authorization_code',
  code: grant.code,
  redirect_uri: grant.redirectUri,
  code_verifier: grant.codeVerifier,
};
const credentials = { client_id: clientId, client_secret: clientSecret };
const bearer = { token_type: 'bearer', access_token: 'the-token' };

interface Row {
  readonly settings?: Partial<Record<SettingKey, string>>;
  readonly authorizes: string;
  readonly token: { readonly url: string; readonly proof: 'basic' | 'form' | 'basic_json' };
  readonly answers: Readonly<Record<string, HostAnswer>>;
  /** Further members of the token endpoint's answer. */
  readonly tokens?: object;
  readonly identity: { readonly providerUserId: string; readonly verifiedEmail: string | undefined };
  /** Other answers and their identities. */
  readonly also?: readonly (readonly [
    what: string,
    change: { readonly answers?: Readonly<Record<string, HostAnswer>>; readonly tokens?: object },
    identity: Row['identity'],
  ])[];
  readonly asks?: (headers: Readonly<Record<string, unknown>>, url: string) => void;
}

const ann = 'ann@example.com';
const isAnn = (providerUserId: string) => ({ providerUserId, verifiedEmail: ann });
const isNobodysAddress = (providerUserId: string) => ({ providerUserId, verifiedEmail: undefined });
const idToken = (claims: Record<string, unknown>) => ({ id_token: new UnsecuredJWT(claims).encode() });
const microsoftMe = { json: { id: 'oid-1', displayName: 'Ann', mail: ann, userPrincipalName: ann } };

/** The answers have the shapes of the providers' references. */
const table: Record<Exclude<OauthProviderName, 'apple'>, Row> = {
  google: {
    authorizes: 'https://accounts.google.com/o/oauth2/v2/auth?scope=openid%20email%20profile',
    token: { url: 'https://oauth2.googleapis.com/token', proof: 'form' },
    answers: {
      'GET https://openidconnect.googleapis.com/v1/userinfo': {
        json: { sub: '10769150350006150715113082367', name: 'Ann', email: ann, email_verified: true, locale: 'en' },
      },
    },
    identity: isAnn('10769150350006150715113082367'),
  },
  github: {
    authorizes: 'https://github.com/login/oauth/authorize?scope=read%3Auser%20user%3Aemail',
    token: { url: 'https://github.com/login/oauth/access_token', proof: 'form' },
    answers: {
      'GET https://api.github.com/user': { json: { login: 'ann', id: 583231, email: null, name: 'Ann' } },
      'GET https://api.github.com/user/emails': {
        json: [
          { email: 'other@example.com', primary: false, verified: true, visibility: null },
          { email: ann, primary: true, verified: true, visibility: 'private' },
        ],
      },
    },
    identity: isAnn('583231'),
    also: [
      [
        'a primary address that is unverified',
        {
          answers: {
            'GET https://api.github.com/user/emails': { json: [{ email: ann, primary: true, verified: false }] },
          },
        },
        isNobodysAddress('583231'),
      ],
      [
        'no right to read the addresses',
        { answers: { 'GET https://api.github.com/user/emails': { status: 403, json: { message: 'Forbidden' } } } },
        isNobodysAddress('583231'),
      ],
    ],
    asks: ({ 'user-agent': agent }) => assert.equal(agent, 'Recordbus'),
  },
  gitlab: {
    settings: { 'oauth2.gitlab.endpoint': 'https://git.example.com/sub/' },
    authorizes: 'https://git.example.com/sub/oauth/authorize?scope=read_user',
    token: { url: 'https://git.example.com/sub/oauth/token', proof: 'form' },
    answers: {
      'GET https://git.example.com/sub/api/v4/user': {
        json: { id: 7, username: 'ann', email: ann, state: 'active', confirmed_at: '2012-05-23T09:05:22Z' },
      },
    },
    identity: isAnn('7'),
    also: [
      [
        'an address that is not confirmed',
        {
          answers: {
            'GET https://git.example.com/sub/api/v4/user': { json: { id: 7, email: ann, confirmed_at: null } },
          },
        },
        isNobodysAddress('7'),
      ],
    ],
  },
  facebook: {
    authorizes: 'https://www.facebook.com/dialog/oauth?scope=email%20public_profile',
    token: { url: 'https://graph.facebook.com/oauth/access_token', proof: 'form' },
    answers: { 'GET https://graph.facebook.com/me': { json: { id: '10150000000000001', email: ann } } },
    identity: isNobodysAddress('10150000000000001'),
    asks: (_headers, url) => {
      const proof = createHmac('sha256', clientSecret).update('the-token').digest('hex');
      assert.equal(new URL(url).search, `?fields=id,email,name,picture.type(large)&appsecret_proof=${proof}`);
    },
  },
  microsoft: {
    authorizes:
      'https://login.microsoftonline.com/common/oauth2/v2.0/authorize?scope=openid%20profile%20email%20User.Read',
    token: { url: 'https://login.microsoftonline.com/common/oauth2/v2.0/token', proof: 'form' },
    answers: { 'GET https://graph.microsoft.com/v1.0/me': microsoftMe },
    tokens: idToken({ oid: 'oid-1', email: ann, xms_edov: true }),
    identity: isAnn('oid-1'),
    also: [
      ['an address that only the tenant claims', { tokens: idToken({ email: ann }) }, isNobodysAddress('oid-1')],
      [
        'an address of an unverified domain',
        { tokens: idToken({ email: ann, xms_edov: '0' }) },
        isNobodysAddress('oid-1'),
      ],
      [
        'an address that is listed as verified',
        { tokens: idToken({ email: ann, verified_primary_email: [ann] }) },
        isAnn('oid-1'),
      ],
      [
        'another listed address',
        { tokens: idToken({ email: ann, verified_primary_email: ['x@y.z'] }) },
        isNobodysAddress('oid-1'),
      ],
      ['an invalid id token', { tokens: { id_token: 'x.y' } }, isNobodysAddress('oid-1')],
    ],
  },
  discord: {
    authorizes: 'https://discord.com/oauth2/authorize?scope=identify%20email',
    token: { url: 'https://discord.com/api/oauth2/token', proof: 'form' },
    answers: {
      'GET https://discord.com/api/users/@me': {
        json: { id: '80351110224678912', username: 'ann', global_name: null, verified: true, email: ann },
      },
    },
    identity: isAnn('80351110224678912'),
    also: [
      [
        'an unverified address',
        { answers: { 'GET https://discord.com/api/users/@me': { json: { id: '8', verified: false, email: ann } } } },
        isNobodysAddress('8'),
      ],
    ],
  },
  twitch: {
    authorizes: 'https://id.twitch.tv/oauth2/authorize?scope=user%3Aread%3Aemail',
    token: { url: 'https://id.twitch.tv/oauth2/token', proof: 'form' },
    tokens: { scope: ['user:read:email'], expires_in: 14124 },
    answers: {
      'GET https://api.twitch.tv/helix/users': { json: { data: [{ id: '141981764', login: 'ann', email: ann }] } },
    },
    identity: isAnn('141981764'),
    also: [
      [
        'no address',
        { answers: { 'GET https://api.twitch.tv/helix/users': { json: { data: [{ id: '1' }] } } } },
        isNobodysAddress('1'),
      ],
    ],
    asks: ({ 'client-id': id }) => assert.equal(id, clientId),
  },
  spotify: {
    authorizes: 'https://accounts.spotify.com/authorize?scope=user-read-email',
    token: { url: 'https://accounts.spotify.com/api/token', proof: 'basic' },
    answers: { 'GET https://api.spotify.com/v1/me': { json: { id: 'smedjan', email: ann, type: 'user' } } },
    identity: isNobodysAddress('smedjan'),
  },
  linkedin: {
    authorizes: 'https://www.linkedin.com/oauth/v2/authorization?scope=openid%20profile%20email',
    token: { url: 'https://www.linkedin.com/oauth/v2/accessToken', proof: 'form' },
    answers: {
      'GET https://api.linkedin.com/v2/userinfo': {
        json: { sub: '782bbtaQ', name: 'Ann', locale: 'en-US', email: ann, email_verified: 'true' },
      },
    },
    identity: isAnn('782bbtaQ'),
  },
  slack: {
    authorizes: 'https://slack.com/openid/connect/authorize?scope=openid%20profile%20email',
    token: { url: 'https://slack.com/api/openid.connect.token', proof: 'form' },
    tokens: { ok: true },
    answers: {
      'GET https://slack.com/api/openid.connect.userInfo': {
        json: {
          ok: true,
          sub: 'U0R7JM',
          'https://slack.com/user_id': 'U0R7JM',
          'https://slack.com/team_id': 'T0R7GR',
          email: ann,
          email_verified: true,
        },
      },
    },
    identity: isAnn('T0R7GR.U0R7JM'),
  },
  bitbucket: {
    authorizes: 'https://bitbucket.org/site/oauth2/authorize?scope=account%20email',
    token: { url: 'https://bitbucket.org/site/oauth2/access_token', proof: 'basic' },
    answers: {
      'GET https://api.bitbucket.org/2.0/user': {
        json: { type: 'user', uuid: '{d301aafa-d676}', display_name: 'Ann' },
      },
      'GET https://api.bitbucket.org/2.0/user/emails': {
        json: {
          values: [
            { email: 'other@example.com', is_primary: false, is_confirmed: true },
            { email: ann, is_primary: true, is_confirmed: true },
          ],
        },
      },
    },
    identity: isAnn('{d301aafa-d676}'),
    also: [
      [
        'a primary address that is not confirmed',
        {
          answers: {
            'GET https://api.bitbucket.org/2.0/user/emails': {
              json: { values: [{ email: ann, is_primary: true, is_confirmed: false }] },
            },
          },
        },
        isNobodysAddress('{d301aafa-d676}'),
      ],
    ],
  },
  notion: {
    authorizes: 'https://api.notion.com/v1/oauth/authorize?owner=user',
    token: { url: 'https://api.notion.com/v1/oauth/token', proof: 'basic_json' },
    tokens: {
      bot_id: 'b3414d65',
      owner: { type: 'user', user: { object: 'user', id: '5389a034', person: { email: ann } } },
    },
    answers: {},
    identity: isNobodysAddress('5389a034'),
  },
  patreon: {
    authorizes: 'https://www.patreon.com/oauth2/authorize?scope=identity%20identity%5Bemail%5D',
    token: { url: 'https://www.patreon.com/api/oauth2/token', proof: 'form' },
    answers: {
      'GET https://www.patreon.com/api/oauth2/v2/identity': {
        json: { data: { id: '12345689', type: 'user', attributes: { email: ann, is_email_verified: true } } },
      },
    },
    identity: isAnn('12345689'),
    asks: (_headers, url) =>
      assert.equal(new URL(url).searchParams.get('fields[user]'), 'email,full_name,image_url,is_email_verified,vanity'),
  },
  twitter: {
    authorizes: 'https://x.com/i/oauth2/authorize?scope=users.read%20users.email%20tweet.read',
    token: { url: 'https://api.x.com/2/oauth2/token', proof: 'basic' },
    answers: {
      'GET https://api.x.com/2/users/me': {
        json: { data: { id: '2244994945', username: 'ann', confirmed_email: ann } },
      },
    },
    identity: isAnn('2244994945'),
    also: [
      [
        'an address that is null',
        { answers: { 'GET https://api.x.com/2/users/me': { json: { data: { id: '2', confirmed_email: null } } } } },
        isNobodysAddress('2'),
      ],
    ],
  },
  oidc: {
    settings: {
      'oauth2.oidc.authorization_url': 'https://id.example.com/auth?tenant=9&state=fixed',
      'oauth2.oidc.token_url': 'https://id.example.com/token',
      'oauth2.oidc.userinfo_url': 'https://id.example.com/me',
      'oauth2.oidc.scopes': 'openid email',
      'oauth2.oidc.display_name': 'Company login',
    },
    authorizes: 'https://id.example.com/auth?tenant=9&scope=openid%20email',
    token: { url: 'https://id.example.com/token', proof: 'basic' },
    answers: { 'GET https://id.example.com/me': { json: { sub: 'a|1', email: ann, email_verified: true } } },
    identity: isAnn('a|1'),
    also: [
      [
        'a text that is no address',
        { answers: { 'GET https://id.example.com/me': { json: { sub: 'a', email: 'ann', email_verified: true } } } },
        isNobodysAddress('a'),
      ],
    ],
  },
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
  const { settings, authorizes, token, answers, tokens, identity, also = [], asks } = table[name];
  const tokenRequest = `POST ${token.url}`;

  test(`${name}: the authorize URL`, async () => {
    const provider = await providerOf(name, settings);
    const url = await provider.authorizeUrl({
      redirectUri: grant.redirectUri,
      state: 'a b&c',
      codeChallenge: undefined,
    });
    const expected = new URL(authorizes);
    const common = { response_type: 'code', client_id: clientId, redirect_uri: grant.redirectUri, state: 'a b&c' };
    const actual = new URL(url);
    assert.equal(actual.origin + actual.pathname, expected.origin + expected.pathname);
    assert.deepEqual(Object.fromEntries(actual.searchParams), {
      ...Object.fromEntries(expected.searchParams),
      ...common,
    });
    assert.ok(!url.includes('+'), 'spaces are %20');
    assert.ok(url.includes('state=a%20b%26c'), 'a value of the caller adds no parameter');
  });

  test(`${name}: the identity`, async () => {
    const provider = await providerOf(name, settings);
    hosts.answer({ ...answers, [tokenRequest]: { json: { ...bearer, ...tokens } } });
    const { profile: _, ...found } = await provider.identify(grant);
    assert.deepEqual(found, { provider: name, issuer: token.url, ...identity });
    const [asked, ...profile] = hosts.asked;
    assert.equal(asked?.request, tokenRequest);
    assert.equal(asked?.headers.accept, 'application/json');
    assert.equal(asked?.headers.authorization, token.proof === 'form' ? undefined : basic);
    const sent =
      token.proof === 'basic_json'
        ? JSON.parse(asked?.body ?? '')
        : Object.fromEntries(new URLSearchParams(asked?.body));
    assert.deepEqual(sent, { ...formOfGrant, ...(token.proof === 'form' && credentials) });
    assert.deepEqual(
      profile.map(({ request, headers }) => [request.replace(/\?.*/, ''), headers.authorization]),
      Object.keys(answers).map((request) => [request, 'Bearer the-token']),
    );
    for (const { headers, request } of profile) asks?.(headers, request.replace('GET ', ''));
  });

  for (const [what, change, expected] of also)
    test(`${name}: ${what}`, async () => {
      const provider = await providerOf(name, settings);
      hosts.answer({
        ...answers,
        ...change.answers,
        [tokenRequest]: { json: { ...bearer, ...(change.tokens ?? tokens) } },
      });
      const { profile: _, ...found } = await provider.identify(grant);
      assert.deepEqual(found, { provider: name, issuer: token.url, ...expected });
    });

  test(`${name}: without a challenge no verifier is sent`, async () => {
    const provider = await providerOf(name, settings);
    hosts.answer({ ...answers, [tokenRequest]: { json: { ...bearer, ...tokens } } });
    await provider.identify({ ...grant, codeVerifier: undefined });
    assert.ok(!hosts.asked[0]?.body.includes('code_verifier'));
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

test('oidc: a client that is refused with Basic authenticates in the form [oauth §1.4]', async () => {
  const { settings, answers } = table.oidc;
  const provider = await providerOf('oidc', settings);
  const token = 'POST https://id.example.com/token';
  hosts.answer({ ...answers, [token]: { status: 401, json: { error: 'invalid_client' } } });
  await assert.rejects(provider.identify(grant), { status: 422, details: { provider: 'invalid_client' } });
  const [first, second, ...others] = hosts.asked;
  assert.deepEqual([first?.headers.authorization, second?.headers.authorization, others.length], [basic, undefined, 0]);
  assert.deepEqual(Object.fromEntries(new URLSearchParams(second?.body)), { ...formOfGrant, ...credentials });
});

test('a provider is enabled when everything that it needs is set [oauth §1.2]', async () => {
  const whole: Partial<Record<SettingKey, string>> = {
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
  assert.deepEqual(await listed(whole), both);
  for (const key of Object.keys(whole).filter((key) => !/scopes|display_name/.test(key)) as SettingKey[]) {
    const { [key]: _, ...rest } = whole;
    assert.deepEqual(
      await listed(rest),
      both.filter(([name]) => !key.includes(`.${name}.`)),
      `without ${key}`,
    );
  }
});
