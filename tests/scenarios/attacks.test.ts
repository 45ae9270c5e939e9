import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type Answer, type Client, createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { listAt, textAt } from '../harness/json.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { password, prepareTargets, resetMailTo, statusOf, users } from './attack-targets.ts';

const appUrl = 'https://app.example.com';

onEachTopology('answers do not reveal which accounts exist [auth §4.1; identity §3.1]', async (t, target) => {
  const targets = await prepareTargets(target);
  await using _ = targets.mail;
  const known = await targets.register(`known.${randomUUID()}@example.com`);
  const anonymous = textAt(await target.guest.post(`${users}/anonymous`, undefined), 'record.email');
  const caller = await targets.register(`caller.${randomUUID()}@example.com`);
  const routes: [string, Client, (email: string) => object][] = [
    ['login', target.guest, (email) => ({ email, password: 'wrong' })],
    ['request-password-reset', target.guest, (email) => ({ email })],
    ['otp/request', target.guest, (email) => ({ email })],
    ['otp/auth', target.guest, (email) => ({ email, code: '000000' })],
    ['request-email-change', caller.client, (email) => ({ email, old_password: password })],
  ];
  const shown = ({ status, text, headers }: Answer) => {
    const { date, 'x-request-id': _, 'ratelimit-remaining': __, 'ratelimit-reset': ___, ...others } = headers;
    return { status, text, headers: others };
  };
  for (const [route, client, bodyOf] of routes)
    await t.test(`${route} answers the same for every address`, async () => {
      const [first, ...rest] = await Promise.all(
        [known.email, `unknown.${randomUUID()}@example.com`, anonymous].map(async (email) =>
          shown(await client.send('POST', `${users}/${route}`, { body: bodyOf(email) })),
        ),
      );
      for (const other of rest) assert.deepEqual(other, first);
    });
});

onEachTopology('a user cannot gain rights', async (t, target) => {
  const targets = await prepareTargets(target);
  await using _ = targets.mail;
  const ann = await targets.register(`more.${randomUUID()}@example.com`);
  const path = `/api/v1/targets/${ann.id}`;

  await t.test("with a PATCH's members", async () => {
    for (const member of [
      'password_hash',
      'token_version',
      'totp_secret',
      'is_anonymous',
      'has_password',
      '__proto__',
    ]) {
      const rawBody = `{"note":"x",${JSON.stringify(member)}:"1"}`;
      const headers = { 'Content-Type': 'application/json' };
      const answer = await ann.client.send('PATCH', path, { rawBody, headers });
      assert.equal(answer.status, 422, `${member}: ${answer.text}`);
    }
    const ignored = { id: 'mine', anonymous: true, created: 1, updated: 1 };
    const { id, anonymous } = await ann.client.patch(path, ignored);
    assert.deepEqual([id, anonymous], [ann.id, false]);
  });

  await t.test('with a mail header in an address', async () => {
    for (const email of [
      'a@example.com\r\nBcc: b@example.com',
      'a@example.com\nSubject: x',
      'a@example.com, b@example.com',
    ]) {
      assert.equal(statusOf(await targets.post(`${users}/register`, { email, password })), 422);
      await targets.post(`${users}/request-password-reset`, { email });
    }
    assert.equal(targets.mail.received.filter(({ recipients }) => recipients.includes('b@example.com')).length, 0);
  });

  await t.test("with a Host header that mails' links would use", async () => {
    const headers = { Host: 'evil.example', 'X-Forwarded-Host': 'evil.example', Origin: 'https://evil.example' };
    const body = { email: ann.email, redirect: 'https://evil.example', redirect_to: 'https://evil.example' };
    await target.guest.send('POST', `${users}/request-password-reset`, { body, headers });
    const { email } = await resetMailTo(targets.mail, ann.email);
    assert.ok(email.text?.includes(appUrl), email.text);
    assert.ok(!JSON.stringify(email).includes('evil.example'));
  });

  await t.test('with the client address in a header, where no proxy is trusted', async () => {
    const headers = { 'X-Forwarded-For': '203.0.113.9', Forwarded: 'for=203.0.113.9', 'X-Real-IP': '203.0.113.9' };
    const body = { email: ann.email, password };
    const login = await target.guest.send('POST', `${users}/login`, { body, headers });
    const client = createClient(target.url, textAt(login.json, 'data.token'));
    const { json } = await client.get(`${users}/sessions`);
    const current = listAt(json, 'data').find((session) => session.current === true);
    assert.match(textAt(current, 'ip'), /^(127\.0\.0\.1|::1)$/);
  });
});

onEachTopology('no spelling evades the lockout [auth §1.3, §4.2]', async (t, target) => {
  const targets = await prepareTargets(target);
  await using _ = targets.mail;
  const tag = randomUUID().slice(0, 8);
  const { email } = await targets.register(`mia.kim.${tag}@example.com`);
  const login = (typed: string, given: string) => targets.post(`${users}/login`, { email: typed, password: given });
  await targets.admin.patch('/api/v1/admin/settings', { 'auth.lockout.max_attempts': '4' });
  await eventually('the lockout applies', async () => {
    const probe = `probe.${randomUUID()}@example.com`;
    for (let count = 0; count < 4; count += 1) await login(probe, 'x');
    return statusOf(await login(probe, 'x')) === 429;
  });
  await t.test('case, spaces, and letters that the database treats as equal', async () => {
    const spellings = [
      email.toUpperCase(),
      ` ${email}\t`,
      email.replace('mia', 'mİa'),
      email.replace('kim', '\u212aim'),
    ];
    for (const spelling of spellings) assert.equal(statusOf(await login(spelling, 'wrong')), 401, spelling);
    for (const spelling of [email, ...spellings, `${email}\u00a0`])
      assert.equal(statusOf(await login(spelling, password)), 429, spelling);
  });
  await t.test('an address with a tag is another address', async () => {
    assert.equal(statusOf(await login(email.replace('@', '+1@'), 'wrong')), 401);
  });
  await targets.admin.patch('/api/v1/admin/settings', { 'auth.lockout.max_attempts': '0' });
});
