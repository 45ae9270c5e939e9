import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { createTokenSigner, type SessionPrincipal } from './session-token.ts';
import { createTokenVerifier } from './token-verifier.ts';

const secret = Buffer.from('a secret that has more than 32 characters');
const nowSec = 1_800_000_000;
const clock = () => nowSec * 1000;
const signer = createTokenSigner(secret, clock);
const admin: SessionPrincipal = { type: 'admin', id: 'a1', email: 'root@example.com' };
const user: SessionPrincipal = {
  type: 'user',
  id: 'u1',
  email: 'user@example.com',
  collection: 'users',
  anonymous: false,
  impersonatedBy: null,
};

const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Signs a token by hand, as another secret holder could. */
function forge(claims: unknown, header: object = { alg: 'HS256', typ: 'JWT' }, key: Uint8Array = secret): string {
  const body = `${base64url(header)}.${base64url(claims)}`;
  return `${body}.${createHmac('sha256', key).update(body).digest('base64url')}`;
}

const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());

const adminClaims = { id: 'a1', email: 'root@example.com', aud: 'admin', iat: nowSec, exp: nowSec + 60, tv: 0 };

test("a user token has the documented claims and is signed with the secret's raw bytes [auth §8.2]", async () => {
  const token = await signer.signSession({ principal: user, tokenVersion: 3, windowSec: 60 });
  const { jti, ...claims } = claimsOf(token);
  assert.deepEqual(claims, {
    id: 'u1',
    email: 'user@example.com',
    collection: 'users',
    tv: 3,
    aud: 'user',
    iat: nowSec,
    exp: nowSec + 60,
  });
  assert.match(jti, /^[0-9a-f-]{36}$/);
  const [header, payload, signature] = token.split('.');
  assert.equal(createHmac('sha256', secret).update(`${header}.${payload}`).digest('base64url'), signature);
  assert.deepEqual(JSON.parse(Buffer.from(header ?? '', 'base64url').toString()), { alg: 'HS256', typ: 'JWT' });
});

test('tokens for anonymous and impersonated sessions have a claim for that [auth §8.2]', async () => {
  const guest = await signer.signSession({ principal: { ...user, anonymous: true }, tokenVersion: 0, windowSec: 60 });
  assert.equal(claimsOf(guest).anonymous, true);
  const other = await signer.signSession({
    principal: { ...user, impersonatedBy: 'a1' },
    tokenVersion: 0,
    windowSec: 60,
  });
  assert.equal(claimsOf(other).impersonated_by, 'a1');
});

test('a verified token gives the session that was signed', async () => {
  const verifier = createTokenVerifier(secret, clock);
  const principals: SessionPrincipal[] = [admin, user, { ...user, anonymous: true }, { ...user, impersonatedBy: 'a1' }];
  for (const principal of principals) {
    const token = await signer.signSession({ principal, tokenVersion: 7, sessionId: 's1', windowSec: 60 });
    const session = { principal, tokenVersion: 7, sessionId: 's1', expiresAtSec: nowSec + 60 };
    assert.deepEqual(await verifier.verifySession(token), session);
    assert.deepEqual(await verifier.verifySession(token), session, 'from the cache');
  }
});

test('two tokens for one session in one second differ', async () => {
  const session = { principal: admin, tokenVersion: 0, windowSec: 60 };
  assert.notEqual(await signer.signSession(session), await signer.signSession(session));
});

test('a token expires exactly at its time, even in the cache', async () => {
  let nowMs = clock();
  const verifier = createTokenVerifier(secret, () => nowMs);
  const token = await signer.signSession({ principal: admin, tokenVersion: 0, windowSec: 60 });
  nowMs += 59_999;
  assert.ok(await verifier.verifySession(token));
  nowMs += 1;
  assert.equal(await verifier.verifySession(token), undefined);
  assert.equal(await verifier.verifySession(token), undefined);
  nowMs -= 1;
  assert.ok(await verifier.verifySession(token));
});

test("another secret holder's token is accepted without optional claims [auth §8.2]", async () => {
  const verifier = createTokenVerifier(secret, clock);
  const { tv: _, ...withoutVersion } = adminClaims;
  assert.equal((await verifier.verifySession(forge(withoutVersion, { alg: 'HS256' })))?.tokenVersion, 0);
});

const refused: [string, string][] = [
  ['no token', ''],
  ['not a token', 'abc'],
  ['two parts', forge(adminClaims).split('.').slice(0, 2).join('.')],
  ['another secret', forge(adminClaims, undefined, Buffer.from('another secret with over 32 characters'))],
  ['algorithm none', `${base64url({ alg: 'none' })}.${base64url(adminClaims)}.`],
  ['another HMAC', forge(adminClaims, { alg: 'HS512', typ: 'JWT' })],
  ['an asymmetric algorithm', forge(adminClaims, { alg: 'RS256', typ: 'JWT' })],
  ['another kind of token', forge(adminClaims, { alg: 'HS256', typ: 'mfa+jwt' })],
  ['another audience', forge({ ...adminClaims, aud: 'file' })],
  ['both audiences', forge({ ...adminClaims, aud: ['user', 'admin'] })],
  ['no audience', forge({ ...adminClaims, aud: undefined })],
  ['no expiry', forge({ ...adminClaims, exp: undefined })],
  ['an expiry that is text', forge({ ...adminClaims, exp: `${nowSec + 60}` })],
  ['an expiry in the past', forge({ ...adminClaims, exp: nowSec })],
  ['issued in the future', forge({ ...adminClaims, iat: nowSec + 3600, exp: nowSec + 7200 })],
  ['not valid yet', forge({ ...adminClaims, nbf: nowSec + 30 })],
  ['no id', forge({ ...adminClaims, id: undefined })],
  ['a user without a collection', forge({ ...adminClaims, aud: 'user' })],
  ['critical extensions', forge(adminClaims, { alg: 'HS256', crit: ['exp'], exp: 1 })],
  ['a payload that is not an object', forge('root')],
  ['a token that is too long', forge({ ...adminClaims, email: 'x'.repeat(5000) })],
];
for (const [name, token] of refused)
  test(`refused: ${name}`, async () => {
    assert.equal(await createTokenVerifier(secret, clock).verifySession(token), undefined);
  });

test('a changed payload with the original signature is refused', async () => {
  const verifier = createTokenVerifier(secret, clock);
  const token = await signer.signSession({ principal: user, tokenVersion: 0, windowSec: 60 });
  assert.ok(await verifier.verifySession(token));
  const [header, , signature] = token.split('.');
  assert.equal(await verifier.verifySession(`${header}.${base64url(adminClaims)}.${signature}`), undefined);
});
