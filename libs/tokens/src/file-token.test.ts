import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SignJWT } from 'jose';
import { createFileTokens, type FileTokenMinter } from './file-token.ts';
import { createTokenSigner } from './session-token.ts';
import { createTokenVerifier } from './token-verifier.ts';

const secret = Buffer.from('a secret that has more than 32 characters');
const nowSec = 1_800_000_000;
const clock = () => nowSec * 1000;
const tokens = createFileTokens(secret, clock);
const minter: FileTokenMinter = {
  type: 'user',
  id: 'u1',
  collection: 'users',
  impersonatedBy: null,
  tokenVersion: 3,
};
const file = {
  file: { collectionId: 'c1', recordId: 'r1', filename: 'a_0123456789.txt' },
  minter,
  windowSec: 60,
};

test('a token names its file and its minter until it expires', async () => {
  const { token, expiresAtSec } = await tokens.sign(file);
  assert.equal(expiresAtSec, nowSec + 60);
  const { id, admits, ...read } = (await tokens.verify(token)) ?? assert.fail('the token is refused');
  assert.match(id, /^[0-9a-f-]{36}$/);
  assert.equal(admits('192.0.2.1'), true);
  const { windowSec: _, ...expected } = file;
  assert.deepEqual(read, { ...expected, expiresAtSec });
  const later = createFileTokens(secret, () => (nowSec + 61) * 1000);
  assert.equal(await later.verify(token), undefined);
});

test("a token has only its owner's id, and may be for all files [files §6.2, §6.4]", async () => {
  const { token } = await tokens.sign({ file: null, minter, windowSec: 180, boundTo: '192.0.2.1' });
  const claims = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString();
  assert.doesNotMatch(claims, /@|email|192\.0/);
  assert.equal((await tokens.verify(token))?.file, null);
  const kept = { ...minter, sessionId: 's1' };
  const read = await tokens.verify((await tokens.sign({ ...file, minter: kept })).token);
  assert.deepEqual(read?.minter, kept);
});

test('two tokens for one file have different ids', async () => {
  const ids = await Promise.all([1, 2].map(async () => (await tokens.verify((await tokens.sign(file)).token))?.id));
  assert.notEqual(ids[0], ids[1]);
});

test('a guest and an admin may be the minter', async () => {
  const admin: FileTokenMinter = { type: 'admin', id: 'a1', sessionId: 's1', tokenVersion: 0 };
  for (const minter of [null, admin])
    assert.deepEqual((await tokens.verify((await tokens.sign({ ...file, minter })).token))?.minter, minter);
});

test('a bound token admits only its address and does not reveal it', async () => {
  const { token } = await tokens.sign({ ...file, boundTo: '192.0.2.1' });
  const read = await tokens.verify(token);
  assert.equal(read?.admits('192.0.2.1'), true);
  assert.equal(read?.admits('192.0.2.2'), false);
  assert.equal(
    Buffer.from(token.split('.')[1] ?? '', 'base64url')
      .toString()
      .includes('192.0.2.1'),
    false,
  );
});

test('file tokens and session tokens are not interchangeable [auth §8.4]', async () => {
  const session = await createTokenSigner(secret, clock).signSession({
    principal: { type: 'admin', id: 'a1', email: 'root@example.com' },
    tokenVersion: 0,
    windowSec: 60,
  });
  assert.equal(await tokens.verify(session), undefined);
  const { token } = await tokens.sign(file);
  assert.equal(await createTokenVerifier(secret, clock).verifySession(token), undefined);
});

test('a file token that is signed with the token secret itself is refused', async () => {
  const { token } = await tokens.sign(file);
  const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  const forged = await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', typ: 'file+jwt' }).sign(secret);
  assert.equal(await tokens.verify(forged), undefined);
});

for (const text of ['', 'a.b.c', 'x'.repeat(5000), 'null'])
  test(`${text.slice(0, 10) || 'an empty text'} is not a token`, async () => {
    assert.equal(await tokens.verify(text), undefined);
  });

test('a token signed with another secret, or with one changed character, is refused', async () => {
  const { token } = await tokens.sign(file);
  const other = createFileTokens(Buffer.from('another secret of more than 32 characters'), clock);
  assert.equal(await other.verify(token), undefined);
  assert.equal(
    await tokens.verify(token.replace(/^(.*\..)(.)/, (_, head, c) => `${head}${c === 'A' ? 'B' : 'A'}`)),
    undefined,
  );
});
