import assert from 'node:assert/strict';
import { type Answer, type Client, createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { objectAt, textAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { startMailServer } from '../harness/servers/mail-server.ts';
import { runScenarios } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

const password = 'correct horse battery staple';
const path = '/api/v1/auth/members/otp';
const subject = 'Your sign-in code';

const statusOf = ({ status }: Answer): number => status;
const wrongCodeFor = (code: string): string => (code === '000000' ? '000001' : '000000');

async function register(guest: Client, email: string) {
  const data = await guest.post('/api/v1/auth/members/register', { email, password });
  return { id: textAt(data, 'record.id'), token: textAt(data, 'token') };
}

onEachTopology('users sign in with one-time codes and links', async (t, target) => {
  const admin = await target.admin();
  const { guest } = target;
  await admin.post('/api/v1/collections', { name: 'members', type: 'auth', fields: [] });
  await admin.post('/api/v1/collections', { name: 'plain', type: 'base', fields: [] });
  await using mail = await startMailServer();
  const unknown = { email: 'nobody@example.com' };

  await runScenarios(t, target, [
    {
      name: 'a request for a code, which is disabled by default',
      request: `POST ${path}/request`,
      body: unknown,
      expect: { status: 422, json: { error: is.text, code: 'feature_disabled' } },
      spec: 'auth §1.6',
    },
    {
      name: 'a sign-in with a code, which is disabled by default',
      request: `POST ${path}/auth`,
      body: { token: 'x' },
      expect: { status: 422, json: { error: is.text, code: 'feature_disabled' } },
      spec: 'auth §1.6',
    },
    {
      name: 'an admin enables codes',
      as: 'admin',
      request: 'PATCH /api/v1/admin/settings',
      body: { 'auth.otp.enabled': '1' },
      expect: { status: 200 },
      spec: 'settings §2',
    },
  ]);
  await untilOtpAnswers(guest, 'mail_not_configured');
  await admin.patch('/api/v1/admin/settings', mail.settings);
  await untilOtpAnswers(guest, undefined);

  const request = async (email: string, count = 1) => {
    await guest.post(`${path}/request`, { email }, 200);
    return mail.mailTo(email.trim().toLowerCase(), { subject, count });
  };
  const enter = (body: object): Promise<Answer> => guest.send('POST', `${path}/auth`, { body });

  await runScenarios(t, target, [
    ...['nobody@example.com', '', 'no address', `${'x'.repeat(5000)}@example.com`, 'a\u0000@example.com'].map(
      (email) => ({
        name: `the same answer for ${JSON.stringify(email).slice(0, 30)}`,
        request: `POST ${path}/request`,
        body: { email },
        expect: { status: 200, json: { data: { sent: true } } },
        spec: 'auth §5.1',
      }),
    ),
    {
      name: 'a missing address',
      request: `POST ${path}/request`,
      body: {},
      expect: refused.invalid('email'),
      spec: 'auth §1.5',
    },
    {
      name: 'a base collection',
      request: 'POST /api/v1/auth/plain/otp/request',
      body: unknown,
      expect: refused.notFound,
      spec: 'auth §1.1',
    },
    ...[
      { body: {}, names: 'token' },
      { body: { email: 'a@example.com' }, names: 'code' },
      { body: { code: '123456' }, names: 'email' },
      { body: { token: 5 }, names: 'token' },
    ].map(({ body, names }) => ({
      name: `the incomplete ${JSON.stringify(body)}`,
      request: `POST ${path}/auth`,
      body,
      expect: refused.invalid(names),
      spec: 'auth §1.5',
    })),
    ...[{ token: 'x' }, { token: '\u0000' }, { email: 'nobody@example.com', code: '123456' }].map((body) => ({
      name: `the invalid ${JSON.stringify(body)}`,
      request: `POST ${path}/auth`,
      body,
      expect: refused.invalidCredentials,
      spec: 'auth §5.3',
    })),
  ]);

  await t.test('the code signs in, and uses up the link with it', async () => {
    const { id } = await register(guest, 'one@example.com');
    const { code = '', token = '' } = await request('one@example.com');
    const answer = await enter({ email: ' ONE@Example.com ', code });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(textAt(answer.json, 'data.record.id'), id);
    assert.equal(objectAt(answer.json, 'data.record').verified, true);
    assert.deepEqual(
      (await Promise.all([enter({ email: 'one@example.com', code }), enter({ token })])).map(statusOf),
      [401, 401],
    );
  });

  await t.test('a code counts with the spaces and dashes that people type [auth §5.3]', async () => {
    for (const [index, separator] of [' ', '-', '\u00a0', '\u2013', ' - '].entries()) {
      const email = `typed${index}@example.com`;
      await register(guest, email);
      const { code = '' } = await request(email);
      const typed = `${code.slice(0, 3)}${separator}${code.slice(3)}`;
      assert.equal(statusOf(await enter({ email, code: `${typed}0` })), 401);
      assert.equal(statusOf(await enter({ email, code: typed })), 200, JSON.stringify(typed));
    }
  });

  await t.test('the link signs in, and uses up the code with it', async () => {
    await register(guest, 'two@example.com');
    const { code = '', token = '', email } = await request('two@example.com');
    assert.ok(email.text?.includes(`https://app.example.com/sign-in?collection=members&token=${token}`), email.text);
    assert.equal(statusOf(await enter({ token })), 200);
    assert.equal(statusOf(await enter({ email: 'two@example.com', code })), 401);
    assert.equal(statusOf(await enter({ token })), 401);
  });

  await t.test('when a code and its link are used several times at once, one use succeeds', async () => {
    await register(guest, 'race@example.com');
    const { code = '', token = '' } = await request('race@example.com');
    const answers = await Promise.all([
      ...Array.from({ length: 4 }, () => enter({ email: 'race@example.com', code })),
      ...Array.from({ length: 4 }, () => enter({ token })),
    ]);
    assert.deepEqual(answers.map(statusOf).sort(), [200, 401, 401, 401, 401, 401, 401, 401]);
  });

  await t.test('a new code replaces the previous one', async () => {
    await register(guest, 'again@example.com');
    const first = await request('again@example.com');
    const second = await request('again@example.com', 2);
    assert.equal(statusOf(await enter({ token: first.token })), 401);
    assert.equal(statusOf(await enter({ token: second.token })), 200);
  });

  await t.test('five wrong guesses, even in parallel, end a code and its link', async () => {
    await register(guest, 'guess@example.com');
    const { code = '', token = '' } = await request('guess@example.com');
    const wrong = { email: 'guess@example.com', code: wrongCodeFor(code) };
    const answers = await Promise.all(Array.from({ length: 5 }, () => enter(wrong)));
    assert.deepEqual(answers.map(statusOf), [401, 401, 401, 401, 401]);
    assert.equal(statusOf(await enter({ email: 'guess@example.com', code })), 401);
    assert.equal(statusOf(await enter({ token })), 401);
    const next = await request('guess@example.com', 2);
    assert.equal(statusOf(await enter({ email: 'guess@example.com', code: next.code })), 200);
  });

  await t.test('an address allows ten wrong codes, known or not; links keep working', async () => {
    await register(guest, 'flood@example.com');
    for (const email of ['flood@example.com', 'unknown@example.com']) {
      for (let count = 0; count < 10; count += 1)
        assert.equal(statusOf(await enter({ email, code: 'guess' })), 401, `guess ${count + 1} at ${email}`);
      const { status, headers, json } = await enter({ email: email.toUpperCase(), code: 'guess' });
      assert.equal(status, 429);
      assert.ok(Number(headers['retry-after']) > 0);
      assert.equal(textAt(json, 'error'), 'Too many failed attempts. Try again later.');
    }
    const { code = '', token = '' } = await request('flood@example.com');
    assert.equal(statusOf(await enter({ email: 'flood@example.com', code })), 429);
    assert.equal(statusOf(await enter({ token })), 200);
  });

  await t.test('a code does not work in another collection', async () => {
    await admin.post('/api/v1/collections', { name: 'others', type: 'auth', fields: [] });
    await register(guest, 'here@example.com');
    await guest.post('/api/v1/auth/others/register', { email: 'here@example.com', password });
    const { code = '', token = '' } = await request('here@example.com');
    const there = (body: object) => guest.send('POST', '/api/v1/auth/others/otp/auth', { body });
    assert.equal(statusOf(await there({ token })), 401);
    assert.equal(statusOf(await there({ email: 'here@example.com', code })), 401);
    assert.equal(statusOf(await enter({ token })), 200);
  });

  await t.test("an unverified address's owner gets the account without earlier password and sessions", async () => {
    const taken = await register(guest, 'victim@example.com');
    const { token } = await request('victim@example.com');
    assert.equal(statusOf(await enter({ token })), 200);
    const login = await guest.send('POST', '/api/v1/auth/members/login', {
      body: { email: 'victim@example.com', password },
    });
    assert.equal(login.status, 401, 'the first password is removed');
    const refresh = () => createClient(target.url, taken.token).send('POST', '/api/v1/auth/refresh');
    assert.equal(statusOf(await refresh()), 401, 'the earlier session has ended');
  });

  await t.test('a verified account keeps its password', async () => {
    const { id } = await register(guest, 'kept@example.com');
    await admin.patch(`/api/v1/members/${id}`, { verified: true });
    const { token } = await request('kept@example.com');
    assert.equal(statusOf(await enter({ token })), 200);
    await guest.post('/api/v1/auth/members/login', { email: 'kept@example.com', password }, 200);
  });

  await t.test('a code that was sent to an old address has ended', async () => {
    const { id } = await register(guest, 'old@example.com');
    const { code = '', token = '' } = await request('old@example.com');
    await admin.patch(`/api/v1/members/${id}`, { email: 'moved@example.com' });
    assert.equal(statusOf(await enter({ token })), 401);
    assert.equal(statusOf(await enter({ email: 'moved@example.com', code })), 401);
  });
});

async function untilOtpAnswers(guest: Client, code: string | undefined): Promise<void> {
  await eventually(`otp/request answers ${code ?? 200}`, async () => {
    const { status, json } = await guest.send('POST', `${path}/request`, { body: { email: 'nobody@example.com' } });
    return code === undefined ? status === 200 : status === 422 && textAt(json, 'code') === code;
  });
}
