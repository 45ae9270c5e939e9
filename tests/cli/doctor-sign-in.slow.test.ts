import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import pg from 'pg';
import { at } from '../harness/json.ts';
import { runCli } from '../harness/processes/cli.ts';
import { startCannedServer } from '../harness/servers/canned-server.ts';
import { createGround, environmentOf, startStack } from '../harness/stacks/stack.ts';
import { foundOf } from './doctor-findings.ts';

suite('doctor on who can sign in', async () => {
  const tidying = new AsyncDisposableStack();
  after(() => tidying.disposeAsync());
  const ground = tidying.use(await createGround());
  const environment = { ...environmentOf(ground), SERVICE_ENCRYPTION_KEY: 'a passphrase' };
  const stack = tidying.use(await startStack({ topology: 'one', ground, environment }));
  const admin = await stack.admin();
  const doctor = () => runCli(['doctor', '--json'], { environment });

  await test('doctor counts accounts that get no mail, share a mailbox or need a reset [auth §1.3]', async () => {
    await admin.post('/api/v1/collections', { name: 'old', type: 'auth', fields: [] });
    const client = new pg.Client({ connectionString: environmentOf(ground).SERVICE_DATABASE_URL });
    await client.connect();
    // As an earlier version, or an import, has stored them.
    await client.query(`insert into records.old (id, email, verified, password_hash, created_at, updated_at) values
      ('a', 'a,b@x.co', false, '$argon2id$v=19$m=1048576,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', 1, 1),
      ('b', 'b@münchen.de', false, '$2b$04$f2n.17Bcipj7b6ecDWz.5e8zWTKTlUW063qblRWLrvk89jVRPVY7i', 1, 1),
      ('c', 'b@xn--mnchen-3ya.de', false, '$2b$04$f2n.17Bcipj7b6ecDWz.5e8zWTKTlUW063qblRWLrvk89jVRPVY7i', 1, 1),
      ('r', 'r@example.com', false, '$2b$15$f2n.17Bcipj7b6ecDWz.5e8zWTKTlUW063qblRWLrvk89jVRPVY7i', 1, 1),
      ('d', 'Fine@Example.com', false, null, 1, 1)`);
    await client.end();
    const found = foundOf(await doctor(), 'accounts');
    assert.deepEqual(
      found.map((row) => (row as unknown[]).slice(0, 2)),
      [
        ['warning', '1 in old cannot receive mail: a'],
        ['warning', '1 in old share their mailbox with another account: c'],
        ['warning', '2 in old need a password reset: their imported hash is too costly or unsupported'],
      ],
    );
    for (const [email, id] of [
      ['b@münchen.de', 'b'],
      ['b@xn--mnchen-3ya.de', 'c'],
      ['b@mu\u0308nchen.de', 'b'],
    ] as const) {
      const body = { email, password: 'correct horse battery' };
      const answer = await stack.guest.send('POST', '/api/v1/auth/old/login', { body });
      assert.equal(at(answer.json, 'data.record.id'), id, `${email} ${answer.text}`);
    }
    await admin.delete('/api/v1/collections/old');
  });

  await test('doctor says which captchas keep nobody out [auth §10.4]', async () => {
    await using provider = await startCannedServer();
    const says = (answer: object) => provider.answer({ '/verify': { status: 200, body: JSON.stringify(answer) } });
    await admin.post('/api/v1/collections', { name: 'asked', type: 'auth', fields: [] });
    await admin.patch('/api/v1/admin/settings', {
      'auth.captcha.asked': '{"provider":"altcha","on":["register","otp"]}',
    });
    assert.deepEqual(foundOf(await doctor(), 'captchas'), [['ok', 'asked (altcha: register, otp)', undefined]]);
    const setting = { provider: 'turnstile', on: ['register'], verify_url: `${provider.url}/verify` };
    await admin.patch('/api/v1/admin/settings', { 'auth.captcha.asked': JSON.stringify(setting) });
    const closed = 'Nobody signs up there, and who signs in is not asked. Set auth.captcha.asked.secret.';
    assert.deepEqual(foundOf(await doctor(), 'captchas'), [['warning', 'asked: no secret key', closed]]);
    await admin.patch('/api/v1/admin/settings', { 'auth.captcha.asked.secret': 'the-secret' });
    const sentence = async () => [foundOf(await doctor(), 'captchas')].flat(2)[1];
    assert.match(String(await sentence()), /^asked: turnstile does not verify: .*127\.0\.0\.1/, 'the egress filter');
    await admin.patch('/api/v1/admin/settings', { 'hooks.http.allow': '127.0.0.1' });
    says({ success: false, 'error-codes': ['invalid-input-secret'] });
    assert.equal(await sentence(), 'asked: turnstile does not verify: invalid-input-secret');
    says({ success: true });
    assert.match(String(await sentence()), /accepts any answer, as with a secret key for tests$/);
    says({ success: false, 'error-codes': ['invalid-input-response'] });
    assert.equal(await sentence(), 'asked (turnstile: register)');
    assert.match(provider.received.join(), /secret=the-secret&response=recordbus-doctor/);
    await admin.patch('/api/v1/admin/settings', { 'hooks.http.allow': '' });
    await admin.delete('/api/v1/collections/asked');
  });

  await test('doctor says when nobody can have the second factor that is asked for [auth §6.10, §6.11]', async () => {
    await admin.post('/api/v1/collections', { name: 'crew', type: 'auth', fields: [] });
    const set = (values: object) => admin.patch('/api/v1/admin/settings', values);
    assert.deepEqual(foundOf(await doctor(), 'second factors'), [['ok', 'every user decides', undefined]]);
    await set({ 'auth.mfa.email.crew': '1', 'auth.mfa.required.crew': 'id != null', 'auth.mfa.enabled': '0' });
    const found = await doctor();
    assert.equal(found.code, 1);
    assert.deepEqual(foundOf(found, 'second factors'), [
      [
        'broken',
        'a mailed code is asked for in crew, and mail is not configured',
        'Users without an authenticator app cannot sign in there. Configure mail, or unset auth.mfa.email.<collection>.',
      ],
    ]);
    await set({ 'smtp.enabled': '1', 'smtp.host': 'mail.example.com', 'smtp.from': 'office@example.com' });
    assert.deepEqual(foundOf(await doctor(), 'second factors'), [
      ['ok', 'required in crew; mailed in crew', undefined],
    ]);
    await set({ 'auth.passkeys.enabled': '0' });
    assert.deepEqual(foundOf(await doctor(), 'second factors'), [
      [
        'broken',
        'required in crew, and none can be set up',
        'Users without one cannot sign in there. Set auth.mfa.enabled or auth.passkeys.enabled to 1.',
      ],
    ]);
    await set({ 'auth.mfa.enabled': '', 'auth.passkeys.enabled': '', 'smtp.enabled': '' });
    await admin.delete('/api/v1/collections/crew');
  });
});
