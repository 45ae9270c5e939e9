import assert from 'node:assert/strict';
import { createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { textAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { mint } from '../harness/sign-in/tokens.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { changed, password, path, prepareReaders, statusOf } from './account-mails/readers.ts';

const subjects = { verify: 'Verify your email', reset: 'Reset your password' };

onEachTopology('an address is verified by mail', async (t, target) => {
  await t.test('with mail disabled request-verify is 422, and registering works [identity §1.1]', async () => {
    const admin = await target.admin();
    await admin.send('POST', '/api/v1/collections', { body: { name: 'silent', type: 'auth' } });
    const session = await target.guest.post('/api/v1/auth/silent/register', { email: 'a@example.com', password });
    const client = createClient(target.url, textAt(session, 'token'));
    assert.equal(statusOf(await client.send('POST', '/api/v1/auth/silent/request-verify', { body: {} })), 422);
    const change = { body: { email: 'b@example.com' } };
    assert.equal(statusOf(await client.send('POST', '/api/v1/auth/silent/request-email-change', change)), 422);
    const reset = { body: { email: 'a@example.com' } };
    assert.equal(statusOf(await target.guest.send('POST', '/api/v1/auth/silent/request-password-reset', reset)), 200);
  });
  const { admin, mail, post, register, isVerified } = await prepareReaders(target);
  await using _ = mail;

  await t.test('registering sends a link that works once [identity §1.1, §1.2]', async () => {
    const ann = await register('ann@example.com');
    const { token } = await mail.mailTo('ann@example.com', { subject: subjects.verify });
    assert.equal(await isVerified(ann.id), false);
    const answers = await Promise.all(Array.from({ length: 5 }, () => post('/verify-email', { token })));
    assert.deepEqual(answers.map(statusOf).sort(), [200, 401, 401, 401, 401]);
    assert.deepEqual(answers.find(({ status }) => status === 200)?.json, { data: { verified: true } });
    assert.equal(await isVerified(ann.id), true);
    assert.deepEqual((await post('/request-verify', {}, ann.token)).json, { data: { sent: true } });
  });

  await t.test('a newer link replaces an older one', async () => {
    const bob = await register('bob@example.com');
    const first = await mail.mailTo('bob@example.com');
    assert.equal(statusOf(await post('/request-verify', {}, bob.token)), 200);
    const second = await mail.mailTo('bob@example.com', { count: 2 });
    assert.equal(statusOf(await post('/verify-email', { token: first.token })), 401);
    assert.equal(statusOf(await post('/verify-email', { token: second.token })), 200);
  });

  await t.test('a link verifies only the address that it was sent to', async () => {
    const cid = await register('cid@example.com');
    const { token } = await mail.mailTo('cid@example.com');
    await admin.patch(`/api/v1/readers/${cid.id}`, { email: 'cid2@example.com' });
    assert.equal(statusOf(await post('/verify-email', { token })), 401);
    assert.equal(await isVerified(cid.id), false);
  });

  await t.test("another kind's or collection's token is refused", async () => {
    const dan = await register('dan@example.com');
    const { token } = await mail.mailTo('dan@example.com');
    await admin.send('POST', '/api/v1/collections', { body: { name: 'writers', type: 'auth' } });
    const elsewhere = await target.guest.send('POST', '/api/v1/auth/writers/verify-email', { body: { token } });
    assert.equal(elsewhere.status, 401);
    assert.equal(statusOf(await post('/confirm-password-reset', { token, password: changed })), 401);
    assert.equal(statusOf(await post('/confirm-email-change', { token })), 401);
    const jwt = await mint(target.secret, { aud: 'user', id: dan.id, email: 'dan@example.com', collection: 'readers' });
    for (const other of [jwt, dan.token, '', 'x', 'x\u0000'])
      assert.equal(statusOf(await post('/verify-email', { token: other })), 401, other);
    assert.equal(statusOf(await createClient(target.url, token).get(`${path}/sessions`)), 401);
    assert.equal(statusOf(await post('/verify-email', { token })), 200);
  });

  await t.test('a link comes without a session too, and the answer reveals nothing [identity §1.1]', async () => {
    const eva = await register('eva@example.com');
    await mail.mailTo('eva@example.com');
    for (const email of ['eva@example.com', 'unknown@example.com', 'no address', ''])
      assert.deepEqual((await post('/request-verify-of', { email })).json, { data: { sent: true } }, email);
    const { token } = await mail.mailTo('eva@example.com', { count: 2 });
    assert.equal(statusOf(await post('/verify-email', { token })), 200);
    assert.equal(await isVerified(eva.id), true);
    assert.equal(statusOf(await post('/request-verify-of', {})), 422);
  });

  const refusals: Scenario[] = [
    {
      name: 'request-verify without a session',
      request: `POST ${path}/request-verify`,
      body: {},
      expect: refused.unauthenticated,
      spec: 'http §6.2',
    },
    {
      name: 'request-verify by an admin',
      as: 'admin',
      request: `POST ${path}/request-verify`,
      body: {},
      expect: refused.forbidden,
      spec: 'http §6.3',
    },
    {
      name: 'a missing token',
      request: `POST ${path}/verify-email`,
      body: {},
      expect: refused.invalid('token'),
      spec: 'auth §1.5',
    },
  ];
  await runScenarios(t, target, refusals);
});

onEachTopology('a forgotten password is reset by mail', async (t, target) => {
  const { mail, post, register, isVerified, login } = await prepareReaders(target);
  await using _ = mail;

  await runScenarios(t, target, [
    ...['nobody@example.com', '', 'no address', `${'x'.repeat(5000)}@example.com`, 'a\u0000@example.com'].map(
      (email): Scenario => ({
        name: `the same answer for ${JSON.stringify(email).slice(0, 30)}`,
        request: `POST ${path}/request-password-reset`,
        body: { email },
        expect: { status: 200, json: { data: { sent: true } } },
        spec: 'identity §3.1',
      }),
    ),
    {
      name: 'a missing address',
      request: `POST ${path}/request-password-reset`,
      body: {},
      expect: refused.invalid('email'),
      spec: 'auth §1.5',
    },
    {
      name: 'an invalid token with an invalid password',
      request: `POST ${path}/confirm-password-reset`,
      body: { token: 'made up', password: 'short' },
      expect: { status: 401, json: { error: is.text, code: 'invalid_token' } },
      spec: 'identity §3.2',
    },
  ]);

  await t.test('the link sets a password once and ends all sessions without opening one [identity §3.2]', async () => {
    const email = 'eve@example.com';
    const eve = await register(email);
    assert.equal(statusOf(await post('/verify-email', { token: (await mail.mailTo(email)).token })), 200);
    assert.deepEqual((await post('/request-password-reset', { email: ' EVE@example.com ' })).json, {
      data: { sent: true },
    });
    const { token } = await mail.mailTo(email, { subject: subjects.reset });
    assert.equal(statusOf(await post('/confirm-password-reset', { token, password: 'short' })), 422);
    const answers = await Promise.all(
      Array.from({ length: 5 }, (_, index) => post('/confirm-password-reset', { token, password: changed + index })),
    );
    assert.deepEqual(answers.map(statusOf).sort(), [200, 401, 401, 401, 401]);
    const winner = answers.findIndex(({ status }) => status === 200);
    assert.deepEqual(answers[winner]?.json, { data: { reset: true } });
    await eventually('the session has ended', async () => (await eve.client.get(`${path}/sessions`)).status === 401);
    assert.equal(await login(email, password), 401);
    assert.equal(await login(email, changed + winner), 200);
  });

  await t.test('a reset verifies the address and removes earlier ways to sign in [identity §2.2]', async () => {
    const email = 'victim@example.com';
    const attacker = await register(email);
    const verification = await mail.mailTo(email, { subject: subjects.verify });
    await post('/request-password-reset', { email });
    const { token } = await mail.mailTo(email, { subject: subjects.reset });
    assert.equal(statusOf(await post('/confirm-password-reset', { token, password: changed })), 200);
    assert.equal(await isVerified(attacker.id), true);
    await eventually(
      'the session has ended',
      async () => (await attacker.client.get(`${path}/sessions`)).status === 401,
    );
    assert.equal(await login(email, password), 401);
    assert.equal(statusOf(await post('/verify-email', { token: verification.token })), 401);
  });

  await t.test('a password change in between ends the link', async () => {
    const email = 'gus@example.com';
    const gus = await register(email);
    await post('/request-password-reset', { email });
    const { token } = await mail.mailTo(email, { subject: subjects.reset });
    await gus.client.post(`${path}/change-password`, { old_password: password, password: changed }, 200);
    assert.equal(statusOf(await post('/confirm-password-reset', { token, password: `${changed}!` })), 401);
  });
});
