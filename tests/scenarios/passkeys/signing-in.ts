import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { eventually } from '../../harness/eventually.ts';
import { at, textAt } from '../../harness/json.ts';
import { differences, is } from '../../harness/matching.ts';
import { createAuthenticator, type Deviation, developmentOrigin, flag } from '../../harness/sign-in/authenticator.ts';
import { totpCode } from '../../harness/sign-in/totp.ts';
import { inDatabase } from '../../harness/stacks/in-database.ts';
import type { Target } from '../../harness/stacks/target.ts';
import { auth, badPasskey, type Members, outcome, passkeys } from './members.ts';

const random = Buffer.alloc(32, 7).toString('base64url');

/** What a browser or an authenticator may not do when it signs in, by the step in WebAuthn 3 §7.2. */
const refusedAssertions: readonly (readonly [step: string, deviation: Deviation])[] = [
  ['5: the key is known', { credential: { id: random, rawId: random } }],
  ['6: the user handle is there', { userHandle: null }],
  ["6: … and the key's", { userHandle: random }],
  ['6: … not empty', { userHandle: '' }],
  ['9: the client data is JSON', { response: { clientDataJSON: 'AAAA' } }],
  ['10: the type is webauthn.get', { client: { type: 'webauthn.create' } }],
  ['11: the challenge is the one of the options', { client: { challenge: random } }],
  ['12: the origin is the site', { client: { origin: 'https://evil.example' } }],
  ['12: … with its scheme', { client: { origin: 'https://localhost:8080' } }],
  ['13: no frame of another origin', { client: { crossOrigin: true } }],
  ['14: no other page around it', { client: { crossOrigin: true, topOrigin: 'https://evil.example' } }],
  ['14: … nor around a same-origin frame', { client: { topOrigin: developmentOrigin } }],
  ['15: the relying party is the site', { rpId: 'evil.example' }],
  ['16: the user was present', { flags: flag.verified | flag.copyable }],
  ['18: a key that is not copyable is not copied', { flags: flag.present | flag.copied }],
  ['19: a copyable key stays so', { flags: flag.present | flag.verified }],
  [
    '21: the signature is right',
    { signs: (signature) => Buffer.concat([signature.subarray(0, -1), Buffer.from([~(signature.at(-1) ?? 0)])]) },
  ],
  ['21: … and there', { signs: () => Buffer.alloc(0) }],
  ['21: … over the data that was sent', { response: { authenticatorData: Buffer.alloc(37).toString('base64url') } }],
  ['the authenticator data is long enough', { response: { authenticatorData: 'AAAA' } }],
  ['nothing comes after it', { rest: Buffer.from([0]) }],
  ['the credential is a public key', { credential: { type: 'password' } }],
  ['the id has one spelling', { credential: { rawId: random } }],
];

/** Passkeys open accounts. */
export async function signingIn(t: TestContext, target: Target, members: Members): Promise<void> {
  const { admin } = members;
  const { guest } = target;
  const setting = (values: object) => admin.patch('/api/v1/admin/settings', values);

  await t.test('the options name no account, and are the same for all callers', async () => {
    const member = await members.register();
    await members.withPasskey(member);
    for (const client of [guest, member.client]) {
      const ceremony = await members.beginSignIn(client);
      const options = { challenge: is.text, rpId: 'localhost', timeout: 300_000, userVerification: 'preferred' };
      assert.deepEqual(differences(ceremony, { challenge_id: is.text, expires: is.number, options }), []);
    }
    const unknown = await guest.send('POST', '/api/v1/auth/nothing/passkeys/login/options', { body: {} });
    assert.equal(unknown.status, 404);
  });

  await t.test('a passkey signs in, any number of times, and its use is noted', async () => {
    const member = await members.register();
    const authenticator = await members.withPasskey(member);
    for (let time = 0; time < 3; time += 1) {
      const answer = await members.signIn(authenticator);
      assert.equal(answer.status, 200, answer.text);
      assert.equal(at(answer.json, 'data.record.id'), member.id);
    }
    assert.equal(typeof (await members.listOf(member))[0]?.last_used_at, 'number');
  });

  const member = await members.register();
  const authenticator = await members.withPasskey(member);
  for (const [step, deviation] of refusedAssertions)
    await t.test(`401: ${step} [WebAuthn 3 §7.2]`, async () => {
      assert.deepEqual(outcome(await members.signIn(authenticator, deviation)), badPasskey);
    });

  await t.test('every refusal is the same', async () => {
    const answers = [];
    for (const [, deviation] of refusedAssertions.slice(0, 4))
      answers.push(await members.signIn(authenticator, deviation));
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
  });

  await t.test('22: a count may not stay or fall, but copied keys always count zero', async () => {
    const owner = await members.register();
    const counting = await members.withPasskey(owner, createAuthenticator({ counts: true }));
    assert.equal((await members.signIn(counting)).status, 200);
    assert.equal((await members.signIn(counting)).status, 200);
    for (const count of [2, 1, 0])
      assert.deepEqual(outcome(await members.signIn(counting, { count })), badPasskey, `${count}`);
    assert.equal((await members.signIn(counting, { count: 100 })).status, 200);
    const copied = await members.withPasskey(owner);
    for (let time = 0; time < 2; time += 1) assert.equal((await members.signIn(copied, { count: 0 })).status, 200);
  });

  await t.test('24: whether it is copied is noted at each sign-in', async () => {
    const owner = await members.register();
    const key = await members.withPasskey(owner);
    assert.equal((await members.signIn(key, { flags: flag.present | flag.copyable })).status, 200);
    assert.equal((await members.listOf(owner))[0]?.synced, false);
  });

  await t.test('a challenge signs in once, also for several at once', async () => {
    const ceremony = await members.beginSignIn();
    const bodies = Array.from({ length: 4 }, () => authenticator.get(ceremony));
    const answers = await Promise.all(bodies.map((body) => members.finishSignIn(body)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401, 401, 401]);
    assert.deepEqual(outcome(await members.finishSignIn(authenticator.get(ceremony))), badPasskey);
  });

  await t.test("a challenge is the product's, and of its collection", async () => {
    await admin.post('/api/v1/collections', { name: 'strangers', type: 'auth' });
    const foreign = await guest.post('/api/v1/auth/strangers/passkeys/login/options', {}, 200);
    assert.deepEqual(outcome(await members.finishSignIn(authenticator.get(foreign))), badPasskey);
    const elsewhere = { body: authenticator.get(await members.beginSignIn()) };
    const there = await guest.send('POST', '/api/v1/auth/strangers/passkeys/login/verify', elsewhere);
    assert.deepEqual(outcome(there), badPasskey);
    const there2 = await guest.send('POST', '/api/v1/auth/strangers/passkeys/login/verify', {
      body: authenticator.get(foreign),
    });
    assert.deepEqual(outcome(there2), badPasskey, "another collection's key");
    const { challenge_id: own } = authenticator.get(await members.beginSignIn());
    // The challenge itself may begin with any letter, and end in any byte.
    const otherStart = `${own.startsWith('A') ? 'B' : 'A'}${own.slice(1)}`;
    const otherEnd = `${own.slice(0, -2)}${own.endsWith('AA') ? 'AQ' : 'AA'}`;
    for (const challenge_id of ['', 'x', random, `${own}=`, otherEnd, otherStart]) {
      const options = { challenge: challenge_id, rpId: 'localhost' };
      const body = authenticator.get({ challenge_id, options });
      assert.deepEqual(outcome(await members.finishSignIn(body)), badPasskey, challenge_id);
    }
  });

  await t.test("a challenge for a new key is none for a sign-in, and a sign-in's none for a new key", async () => {
    const adding = await members.begin(member);
    const mixed = { challenge_id: adding.challenge_id, options: { challenge: adding.challenge_id, rpId: 'localhost' } };
    assert.deepEqual(outcome(await members.finishSignIn(authenticator.get(mixed))), badPasskey);
    const { challenge_id } = await members.beginSignIn();
    const rp = { challenge_id, options: { challenge: challenge_id, rp: { id: 'localhost' }, user: { id: random } } };
    assert.deepEqual(outcome(await members.finish(member, createAuthenticator().create(rp))), badPasskey);
  });

  await t.test('with user verification it is both factors; without, the app is asked', async () => {
    const owner = await members.register();
    const verifying = await members.withPasskey(owner);
    const touched = await members.withPasskey(owner, createAuthenticator({ verifies: false }));
    assert.equal(typeof at((await members.signIn(touched)).json, 'data.token'), 'string', 'no app yet');
    const setup = (await owner.client.send('POST', `${auth}/totp/setup`, { body: {} })).json;
    const secret = textAt(setup, 'secret');
    await owner.client.post(`${auth}/totp/confirm`, { code: totpCode(secret) }, 200);
    assert.equal(at((await members.signIn(verifying)).json, 'data.record.id'), owner.id);
    const first = await members.signIn(touched);
    assert.deepEqual(differences(first.json, { data: { mfa_required: true, mfa_token: is.text } }), []);
    const second = { mfa_token: textAt(first.json, 'data.mfa_token'), code: totpCode(secret, 1) };
    assert.equal(at(await guest.post(`${auth}/login/mfa`, second, 200), 'record.id'), owner.id);
  });

  await t.test('a blocked account is 403, and its rule is asked, only after a right assertion', async () => {
    const owner = await members.register();
    const key = await members.withPasskey(owner);
    await admin.post(`/api/v1/admin/users/members/${owner.id}/block`, {}, 200);
    assert.deepEqual(outcome(await members.signIn(key)), [403, 'blocked']);
    assert.deepEqual(outcome(await members.signIn(key, { rpId: 'evil.example' })), badPasskey);
    await admin.post(`/api/v1/admin/users/members/${owner.id}/unblock`, {}, 200);
    await admin.patch('/api/v1/collections/members', { sign_in_rule: `id != "${owner.id}"` });
    await eventually('the rule applies', async () => (await members.signIn(key)).status === 403);
    assert.deepEqual(outcome(await members.signIn(key)), [403, 'sign_in_refused']);
    await admin.patch('/api/v1/collections/members', { sign_in_rule: null });
    await eventually('the rule is gone', async () => (await members.signIn(key)).status === 200);
  });

  await t.test("a deleted account's passkeys are gone", async () => {
    const owner = await members.register();
    const key = await members.withPasskey(owner);
    await admin.delete(`/api/v1/members/${owner.id}`);
    assert.deepEqual(outcome(await members.signIn(key)), badPasskey);
    assert.deepEqual(await inDatabase(target, 'select id from system.passkeys where account_id = $1', [owner.id]), []);
  });

  await t.test("a stranger's options leave no row", async () => {
    const used = async () =>
      (await inDatabase(target, "select id from system.used_file_tokens where id like 'passkey:%'", [])).map(
        ({ id }) => id,
      );
    const before = new Set(await used());
    await Promise.all(Array.from({ length: 50 }, () => members.beginSignIn()));
    await members.signIn(authenticator, { rpId: 'evil.example' });
    // Earlier rows may go meanwhile.
    assert.deepEqual(
      (await used()).filter((id) => !before.has(id)),
      [],
    );
  });

  await t.test('long and odd bodies are 422 or 401, never 5xx', async () => {
    const { challenge_id, credential } = authenticator.get(await members.beginSignIn());
    const long = 'A'.repeat(1_000_000);
    for (const [status, body] of [
      [422, {}],
      [422, { challenge_id, credential: null }],
      [422, { challenge_id, credential: { ...credential, id: 5 } }],
      [422, { challenge_id: long, credential }],
      [422, { challenge_id, credential: { ...credential, response: { ...credential.response, signature: long } } }],
      [
        422,
        { challenge_id, credential: { ...credential, response: { ...credential.response, clientDataJSON: long } } },
      ],
      [401, { challenge_id, credential: { ...credential, response: { ...credential.response, signature: '\0' } } }],
      [401, { challenge_id: '\0'.repeat(94), credential }],
      [401, { challenge_id, credential: { ...credential, id: '\0', rawId: '\0' } }],
    ] as const)
      assert.equal((await members.finishSignIn(body)).status, status, JSON.stringify(body).slice(0, 200));
  });

  await t.test('the settings name the site, its pages, and switch passkeys off', async () => {
    const page = createAuthenticator({ origin: 'https://login.example.com' });
    const owner = await members.register();
    await setting({ 'auth.passkeys.rp_id': 'example.com', 'auth.passkeys.origins': 'https://login.example.com' });
    await eventually(
      'the site applies',
      async () => textAt(await members.beginSignIn(), 'options.rpId') === 'example.com',
    );
    await members.withPasskey(owner, page);
    assert.equal((await members.signIn(page)).status, 200);
    assert.deepEqual(outcome(await members.signIn(page, { client: { origin: 'https://example.com' } })), badPasskey);
    assert.deepEqual(outcome(await members.signIn(authenticator)), badPasskey, "another site's key");
    await setting({ 'auth.passkeys.enabled': '0' });
    const off = [422, 'feature_disabled'] as const;
    const begin = () => guest.send('POST', `${passkeys}/login/options`, { body: {} });
    await eventually('passkeys are off', async () => (await begin()).status === 422);
    assert.deepEqual(outcome(await begin()), off);
    const adding = await owner.client.send('POST', `${passkeys}/register/options`, { body: {} });
    assert.deepEqual(outcome(adding), off);
    assert.equal((await members.listOf(owner)).length, 1);
    await setting({ 'auth.passkeys.enabled': '', 'auth.passkeys.rp_id': '', 'auth.passkeys.origins': '' });
    await eventually('passkeys are on', async () => (await begin()).status === 200);
  });
}
