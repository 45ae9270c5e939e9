import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { TestContext } from 'node:test';
import { challengeOf, newPerson, statusOf, type Visitor } from './visitor.ts';

/** PKCE, by the server and by the client. */
export async function pkce(t: TestContext, visitor: Visitor): Promise<void> {
  const { authorize, visit, exchange } = visitor;
  await t.test('PKCE by the server: the state returns the verifier once', async () => {
    const person = newPerson('kim');
    const state = randomBytes(16).toString('hex');
    const url = await authorize({ use_pkce: '1', state });
    assert.match(url, /[?&]code_challenge=[\w-]{43}&code_challenge_method=S256/);
    assert.equal(url, await authorize({ use_pkce: '1', state }), 'a prefetched page changes nothing');
    const credentials = await visit(person, { use_pkce: '1', state });
    assert.equal(statusOf(await exchange({ ...credentials, redirectUri: 'https://evil.example.com/' })), 401);
    const answers = await Promise.all(Array.from({ length: 4 }, () => exchange(credentials)));
    assert.deepEqual(answers.map(statusOf).sort(), [200, 401, 401, 401]);
    assert.equal(statusOf(await exchange(credentials)), 401);
    assert.equal(
      statusOf(await exchange({ ...credentials, code: (await visit(person)).code })),
      401,
      'the state does not work for another code',
    );
  });

  await t.test('PKCE by the server: without the state the provider refuses the code', async () => {
    const { state, ...credentials } = await visit(newPerson('lea'), { use_pkce: '1' });
    assert.ok(state);
    assert.equal(statusOf(await exchange(credentials)), 422);
    const other = await visit(newPerson('leo'), { use_pkce: '1' });
    assert.equal(statusOf(await exchange({ ...other, state: 'of-nobody' })), 422);
  });

  await t.test('PKCE by the client: only the right verifier is accepted', async () => {
    const verifier = randomBytes(32).toString('base64url');
    const challenge = { code_challenge: challengeOf(verifier), code_challenge_method: 'S256' };
    const person = newPerson('max');
    const wrong = await exchange({ ...(await visit(person, challenge)), code_verifier: verifier.replace(/^../, '__') });
    assert.equal(wrong.status, 422);
    assert.ok(!wrong.text.includes(verifier.slice(2)));
    assert.equal(statusOf(await exchange(await visit(person, challenge))), 422);
    assert.equal(statusOf(await exchange({ ...(await visit(person, challenge)), code_verifier: verifier })), 200);
  });
}
