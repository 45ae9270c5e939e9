import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { after, test } from 'node:test';
import { createLogger } from '@recordbus/process/logging';
import type { SettingKey } from '@recordbus/settings';
import { fixedSettings } from '@recordbus/settings/testing';
import { decodeProtectedHeader, exportJWK, jwtVerify, SignJWT, UnsecuredJWT } from 'jose';
import { type HostAnswer, startProviderHosts } from '../../testing/provider-hosts.ts';
import { createOauthProviders } from '../oauth-providers.ts';

const hosts = await startProviderHosts();
after(() => hosts[Symbol.asyncDispose]());

const ours = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const apples = generateKeyPairSync('rsa', { modulusLength: 2048 });
const others = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pemOf = (key: KeyObject, type: 'pkcs8' | 'sec1' = 'pkcs8') => String(key.export({ type, format: 'pem' }));

const startSec = 1_800_000_000;
const grant = { code: 'the-code', redirectUri: 'https://app.example.com/back', codeVerifier: undefined };
const claims = {
  iss: 'https://appleid.apple.com',
  aud: 'com.example.app',
  sub: '001999.ab',
  iat: startSec,
  exp: startSec + 600,
};
const verifiedAddress = { email: 'ann@privaterelay.appleid.com', email_verified: 'true' };
const ann = {
  provider: 'apple',
  issuer: 'https://appleid.apple.com/auth/token',
  providerUserId: '001999.ab',
  verifiedEmail: verifiedAddress.email,
};

/** Creates the provider on a clock that the test moves. */
function startApple(settings: Partial<Record<SettingKey, string>> = {}) {
  const time = { nowSec: startSec };
  const providers = createOauthProviders({
    settings: fixedSettings({
      'oauth2.apple.enabled': '1',
      'oauth2.apple.client_id': 'com.example.app',
      'oauth2.apple.team_id': 'ABCDE12345',
      'oauth2.apple.key_id': 'KEY1234567',
      'oauth2.apple.private_key': pemOf(ours.privateKey),
      ...settings,
    }),
    client: hosts.client,
    log: createLogger('test', 'silent'),
    nowSec: () => time.nowSec,
  });
  return {
    time,
    async identify() {
      const { profile: _, ...identity } = await (await providers.get('apple')).identify(grant);
      return identity;
    },
    get: () => providers.get('apple'),
  };
}

const sign = (claims: object, key: KeyObject = apples.privateKey, kid = 'one') =>
  new SignJWT({ ...claims }).setProtectedHeader({ alg: 'RS256', kid }).sign(key);

const keySet = async (...keys: readonly (readonly [kid: string, key: KeyObject])[]) => ({
  json: {
    keys: await Promise.all(
      keys.map(async ([kid, key]) => ({ ...(await exportJWK(key)), kid, alg: 'RS256', use: 'sig' })),
    ),
  },
});

async function answerWith(
  idToken: unknown,
  keys: HostAnswer | Promise<HostAnswer> = keySet(['one', apples.publicKey]),
) {
  hosts.answer({
    'POST https://appleid.apple.com/auth/token': { json: { access_token: 'a', id_token: idToken } },
    'GET https://appleid.apple.com/auth/keys': await keys,
  });
}

const askedFor = (path: string) => hosts.received.filter(({ request }) => request.endsWith(path)).length;
const secretOf = () => new URLSearchParams(hosts.received[0]?.body).get('client_secret') ?? '';

test('the redirect is a form post [oauth §1.5]', async () => {
  const url = await (await startApple().get()).authorizeUrl({ ...grant, state: 's', codeChallenge: undefined });
  assert.equal(new URL(url).searchParams.get('response_mode'), 'form_post');
  assert.equal(new URL(url).searchParams.get('scope'), 'name email');
});

test('the identity comes from the id token [oauth §1.5]', async () => {
  const { identify } = startApple();
  await answerWith(await sign({ ...claims, ...verifiedAddress }));
  assert.deepEqual(await identify(), ann);
  await answerWith(
    await sign({ ...claims, iss: 'https://account.apple.com', ...verifiedAddress, email_verified: true }),
  );
  assert.deepEqual(await identify(), ann);
  await answerWith(await sign({ ...claims, ...verifiedAddress, email_verified: 'false' }));
  assert.deepEqual(await identify(), { ...ann, verifiedEmail: undefined });
});

test('the client secret is signed with ES256 and kept for 14 minutes [oauth §1.5]', async () => {
  const { time, identify } = startApple();
  const askedAt = async (nowSec: number): Promise<string> => {
    time.nowSec = nowSec;
    await answerWith(await sign({ ...claims, iat: nowSec, exp: nowSec + 600 }));
    await identify();
    return secretOf();
  };
  const first = await askedAt(startSec);
  assert.deepEqual(decodeProtectedHeader(first), { alg: 'ES256', kid: 'KEY1234567' });
  const { payload } = await jwtVerify(first, ours.publicKey, { currentDate: new Date(startSec * 1000) });
  assert.deepEqual(payload, {
    iss: 'ABCDE12345',
    sub: 'com.example.app',
    aud: 'https://appleid.apple.com',
    iat: startSec,
    exp: startSec + 900,
  });
  assert.equal(await askedAt(startSec + 14 * 60 - 1), first);
  const next = await askedAt(startSec + 14 * 60);
  assert.notEqual(next, first);
  assert.equal(await askedAt(startSec + 15 * 60), next);
});

test('a private key in the older form works, and one that cannot sign is a settings error', async () => {
  const older = startApple({ 'oauth2.apple.private_key': pemOf(ours.privateKey, 'sec1') });
  await answerWith(await sign({ ...claims, ...verifiedAddress }));
  assert.deepEqual(await older.identify(), ann);
  const broken = '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----';
  for (const key of [broken, pemOf(others.privateKey)])
    await assert.rejects(startApple({ 'oauth2.apple.private_key': key }).identify(), {
      status: 422,
      code: 'oauth_provider_misconfigured',
    });
});

const header = { alg: 'HS256', kid: 'one' };
const bad: readonly (readonly [string, () => unknown | Promise<unknown>])[] = [
  ['none', () => undefined],
  ['text', () => 'x'],
  ['an object', () => ({})],
  ['of another app', () => sign({ ...claims, aud: 'com.evil.app' })],
  ['of this app and another', () => sign({ ...claims, aud: ['com.example.app', 'com.evil.app'] })],
  ['of another issuer', () => sign({ ...claims, iss: 'https://evil.example.com' })],
  ['expired', () => sign({ ...claims, exp: startSec - 61 })],
  ['without an end', () => sign({ ...claims, exp: undefined })],
  ['without a subject', () => sign({ ...claims, sub: undefined })],
  ['signed by another key', () => sign(claims, others.privateKey)],
  ['signed by a key that is not published', () => sign(claims, others.privateKey, 'two')],
  ['not signed', () => new UnsecuredJWT(claims).encode()],
  [
    'signed with the published key as a password',
    () =>
      new SignJWT(claims)
        .setProtectedHeader(header)
        .sign(Buffer.from(String(apples.publicKey.export({ type: 'spki', format: 'pem' })))),
  ],
];

for (const [what, make] of bad)
  test(`an id token that is ${what} is refused`, async () => {
    await answerWith(await make());
    await assert.rejects(startApple().identify(), { status: 422, details: { provider: 'the id token is not valid' } });
  });

test('the keys are kept, and fetched again for a token with an unknown key, but not for each such token', async () => {
  const { time, identify } = startApple();
  await answerWith(await sign(claims));
  await identify();
  await identify();
  assert.equal(askedFor('/auth/keys'), 1);
  const rotated = await sign(claims, others.privateKey, 'two');
  const keys = keySet(['one', apples.publicKey], ['two', others.publicKey]);
  await answerWith(rotated, keys);
  await assert.rejects(identify());
  assert.equal(askedFor('/auth/keys'), 0, 'they are too new to have changed');
  time.nowSec += 60;
  await identify();
  await identify();
  assert.equal(askedFor('/auth/keys'), 1);
});

for (const [what, answer] of [
  ['are missing', { status: 404, body: '' }],
  ['are not a list', { json: { keys: 'none' } }],
  ['are HTML', { body: '<html>' }],
] as const)
  test(`keys that ${what} are the provider's failure and are fetched again`, async () => {
    const { identify } = startApple();
    await answerWith(await sign(claims), answer);
    await assert.rejects(identify(), { status: 502 });
    await answerWith(await sign(claims));
    assert.equal((await identify()).providerUserId, claims.sub);
  });
