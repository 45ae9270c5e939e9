import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { createClient } from '../../harness/clients/client.ts';
import { at, listAt, textAt } from '../../harness/json.ts';
import { differences, is } from '../../harness/matching.ts';
import { createAuthenticator, type Deviation, developmentOrigin, flag } from '../../harness/sign-in/authenticator.ts';
import type { CborValue } from '../../harness/sign-in/cbor.ts';
import { inDatabase } from '../../harness/stacks/in-database.ts';
import type { Target } from '../../harness/stacks/target.ts';
import { auth, badPasskey, type Members, outcome, passkeys, password } from './members.ts';

const statement: ReadonlyMap<string, CborValue> = new Map([['sig', Buffer.alloc(64)]]);
const withAlgorithm = new Map<string, CborValue>([...statement, ['alg', -7]]);

/** What a browser or an authenticator may not do when it makes a key, by the step in WebAuthn 3 §7.1. */
const refusedKeys: readonly (readonly [step: string, deviation: Deviation])[] = [
  ['7: the client data is JSON', { response: { clientDataJSON: Buffer.from('{"type"').toString('base64url') } }],
  ['7: … an object', { response: { clientDataJSON: Buffer.from('null').toString('base64url') } }],
  ['7: … in base64url', { response: { clientDataJSON: '****' } }],
  ['8: the type is webauthn.create', { client: { type: 'webauthn.get' } }],
  ['9: the challenge is the one of the options', { client: { challenge: 'A'.repeat(43) } }],
  ['10: the origin is the site', { client: { origin: 'https://evil.example' } }],
  ['10: … and not one that begins so', { client: { origin: `${developmentOrigin}.evil.example` } }],
  ['11: no frame of another origin', { client: { crossOrigin: true } }],
  ['12: no other page around it', { client: { crossOrigin: true, topOrigin: 'https://evil.example' } }],
  ['12: … nor around a same-origin frame', { client: { topOrigin: developmentOrigin } }],
  ['14: the attestation is CBOR', { response: { attestationObject: 'AAAA' } }],
  ['14: … and has authenticator data', { response: { attestationObject: 'oA' } }],
  ['15: the relying party is the site', { rpId: 'evil.example' }],
  ['16: the user was present', { flags: flag.verified | flag.hasKey }],
  ['19: a key that is not copyable is not copied', { flags: flag.present | flag.copied | flag.hasKey }],
  ['21: the algorithm was offered', { alg: -35 }],
  ['21: … and is known', { alg: -65_535 }],
  ['21: there is a key', { flags: flag.present }],
  ['21: nothing comes after it', { rest: Buffer.from([0]) }],
  ['23: the attestation is of a known kind', { attestation: ['other', new Map()] }],
  ['24: none has no statement', { attestation: ['none', statement] }],
  ["24: a key's own signature is right", { attestation: ['packed', withAlgorithm] }],
  ['25: the id is the one of the key', { credential: { id: 'AAAA', rawId: 'AAAA' } }],
  ['25: … in one spelling', { credential: { rawId: 'AAAA' } }],
  ['the credential is a public key', { credential: { type: 'password' } }],
];

/** A session adds passkeys to its account. */
export async function adding(t: TestContext, target: Target, members: Members): Promise<void> {
  const { guest } = target;

  await t.test('the options ask for a discoverable key without attestation', async () => {
    const member = await members.register();
    const ceremony = await members.begin(member);
    const problems = differences(ceremony, {
      challenge_id: is.text,
      expires: is.number,
      options: {
        challenge: is.text,
        rp: { id: 'localhost', name: 'localhost' },
        user: { id: is.text, name: member.email, displayName: member.email },
        pubKeyCredParams: [-8, -7, -257].map((alg) => ({ alg, type: 'public-key' })),
        timeout: 300_000,
        attestation: 'none',
        excludeCredentials: [],
        authenticatorSelection: {
          residentKey: 'required',
          requireResidentKey: true,
          userVerification: 'preferred',
        },
        extensions: { credProps: true },
        hints: [],
      },
    });
    assert.deepEqual(problems, []);
    const handle = Buffer.from(textAt(ceremony, 'options.user.id'), 'base64url');
    assert.equal(handle.length, 32);
    for (const known of [member.id, member.id.replaceAll('-', ''), member.email])
      assert.ok(!handle.includes(known) && !handle.toString('hex').includes(known), 'the handle tells nothing');
  });

  for (const algorithm of ['ES256', 'EdDSA', 'RS256'] as const)
    await t.test(`a key of ${algorithm} is added, and opens the account`, async () => {
      const member = await members.register();
      const authenticator = createAuthenticator({ algorithm });
      const added = await members.add(member, authenticator);
      assert.equal(added.status, 201, added.text);
      const shown = {
        id: is.uuid,
        name: 'Passkey',
        created_at: is.number,
        last_used_at: null,
        synced: true,
        transports: ['internal', 'hybrid'],
      };
      assert.deepEqual(differences(added.json, { data: shown }), []);
      assert.equal(at((await members.signIn(authenticator)).json, 'data.record.id'), member.id);
      assert.equal((await members.listOf(member)).length, 1);
    });

  const member = await members.register();
  for (const [step, deviation] of refusedKeys)
    await t.test(`401: ${step} [WebAuthn 3 §7.1]`, async () => {
      assert.deepEqual(outcome(await members.add(member, createAuthenticator(), deviation)), badPasskey);
    });

  await t.test('a refused key leaves nothing, and the challenge may be answered rightly', async () => {
    assert.deepEqual(await members.listOf(member), []);
    const ceremony = await members.begin(member);
    const authenticator = createAuthenticator();
    const bad = authenticator.create(ceremony, { rpId: 'evil.example' });
    assert.deepEqual(outcome(await members.finish(member, bad)), badPasskey);
    assert.equal((await members.finish(member, authenticator.create(ceremony))).status, 201);
  });

  await t.test('a challenge works once, also for two at once', async () => {
    const ceremony = await members.begin(member);
    const bodies = [createAuthenticator(), createAuthenticator()].map((one) => one.create(ceremony));
    const answers = await Promise.all(bodies.map((body) => members.finish(member, body)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 401]);
    for (const body of bodies) assert.deepEqual(outcome(await members.finish(member, body)), badPasskey);
  });

  await t.test('a challenge is bound to its session and its account, and expires', async () => {
    const owner = await members.register();
    const other = await members.register();
    const second = await guest.post(`${auth}/login`, { email: owner.email, password }, 200);
    const elsewhere = { ...owner, client: createClient(target.url, textAt(second, 'token')) };
    const body = createAuthenticator().create(await members.begin(owner));
    assert.deepEqual(outcome(await members.finish(other, body)), badPasskey);
    assert.deepEqual(outcome(await members.finish(elsewhere, body)), badPasskey);
    assert.equal((await guest.send('POST', `${passkeys}/register/verify`, { body })).status, 401);
    await inDatabase(
      target,
      `update system.one_time_tokens set expires_at = 1 where purpose = 'passkey' and account_id = $1`,
      [owner.id],
    );
    assert.deepEqual(outcome(await members.finish(owner, body)), badPasskey);
    assert.deepEqual(await members.listOf(owner), []);
  });

  await t.test('a key is of one account, and an authenticator is asked not to make a second', async () => {
    const owner = await members.register();
    const authenticator = await members.withPasskey(owner);
    const ceremony = await members.begin(owner);
    assert.equal(authenticator.isExcluded(ceremony), true);
    assert.equal(textAt(ceremony, 'options.user.id'), authenticator.keys[0]?.userHandle, 'one handle for an account');
    const other = await members.register();
    const foreign = await members.begin(other);
    assert.notEqual(textAt(foreign, 'options.user.id'), authenticator.keys[0]?.userHandle);
    const copied = authenticator.create(foreign, { id: authenticator.keys[0]?.id ?? assert.fail('no key') });
    assert.deepEqual(outcome(await members.finish(other, copied)), [409, 'passkey_exists']);
  });

  await t.test('an account has at most 20', async () => {
    const owner = await members.register();
    for (let added = 0; added < 19; added += 1) await members.withPasskey(owner);
    const last = await members.begin(owner);
    const twentieth = createAuthenticator().create(last);
    assert.equal((await members.finish(owner, twentieth)).status, 201);
    const full = await owner.client.send('POST', `${passkeys}/register/options`, { body: {} });
    assert.deepEqual(outcome(full), [409, 'too_many_passkeys']);
    assert.equal((await members.listOf(owner)).length, 20);
  });

  await t.test('the proof is the password or a fresh sign-in [identity §5.2]', async () => {
    const owner = await members.register();
    await inDatabase(target, 'update system.sessions set signed_in_at = signed_in_at - 601 where account_id = $1', [
      owner.id,
    ]);
    const begin = (body: object) => owner.client.send('POST', `${passkeys}/register/options`, { body });
    assert.deepEqual(outcome(await begin({})), [403, 'proof_required']);
    assert.deepEqual(outcome(await begin({ old_password: 'wrong' })), [403, 'proof_required']);
    assert.equal((await begin({ old_password: password })).status, 200);
    assert.equal((await guest.send('POST', `${passkeys}/register/options`, { body: {} })).status, 401);
  });

  await t.test('an admin who acts as the user adds, renames and removes none [identity §5.5]', async () => {
    const owner = await members.register();
    await members.withPasskey(owner);
    const id = textAt((await members.listOf(owner))[0], 'id');
    const acting = await members.admin.post(`/api/v1/admin/impersonate/members/${owner.id}`, {}, 200);
    const client = createClient(target.url, textAt(acting, 'token'));
    const body = { ...createAuthenticator().create(await members.begin(owner)) };
    for (const [method, path, sent] of [
      ['POST', '/register/options', {}],
      ['POST', '/register/verify', body],
      ['PATCH', `/${id}`, { name: 'Mine' }],
      ['DELETE', `/${id}`, {}],
    ] as const)
      assert.deepEqual(outcome(await client.send(method, `${passkeys}${path}`, { body: sent })), [403, 'impersonated']);
    assert.equal(listAt((await client.get(passkeys)).json, 'data').length, 1);
  });

  await t.test('a name is one line of at most 100 characters', async () => {
    const owner = await members.register();
    const named = (name: unknown) => async () => ({
      ...createAuthenticator().create(await members.begin(owner)),
      name,
    });
    for (const name of ['', ' ', 'a\nb', 'a\0b', 'x'.repeat(101), 5])
      assert.deepEqual(outcome(await members.finish(owner, await named(name)())), [422, 'validation_failed']);
    const added = await members.finish(owner, await named(' My phone ')());
    assert.equal(at(added.json, 'data.name'), 'My phone');
  });
}
